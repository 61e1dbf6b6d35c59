// Columns, paths to the root and the pattern of the mass matrix's factor.
//
// M = L^T D L with unit lower L eliminates coordinates from the last to the first. If joints are
// independent, row k of L has entries exactly at the ancestors of k (Featherstone, "Rigid Body
// Dynamics Algorithms" (2008), section 6.5). Mimic joints couple branches. Elimination then fills
// further entries, which are found here once, symbolically.
#include "model/structure.h"

#include <algorithm>

#include "model/joint_layout.h"

namespace robosim {

namespace {

void number_paths(Model& model) {
  const int n = model.n_bodies();
  model.column_v.clear();
  model.angle_joints.clear();
  model.runs.clear();
  model.run_begin.assign(static_cast<std::size_t>(n) + 1, 0);
  for (int i = 1; i < n; ++i) {
    Joint& joint = model.joints[i];
    joint.column = model.n_columns();
    for (int k = 0; k < joint_layout(joint.type).n_v; ++k)
      model.column_v.push_back(joint.v_index + k);
    if (visit_joint(joint.type, []<class J>(J) {
          return requires { J::angle; };
        })) {
      joint.angle = static_cast<int>(model.angle_joints.size());
      model.angle_joints.push_back(i);
    }
  }
  for (int i = n - 1; i > 0; --i) {
    Joint& joint = model.joints[i];
    joint.column_end = std::max(joint.column_end, joint.column + joint_layout(joint.type).n_v);
    int& above = model.joints[joint.parent].column_end;
    above = std::max(above, joint.column_end);
  }
  for (int i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    const int count = joint_layout(joint.type).n_v;
    std::vector<Model::Run> path(model.runs.begin() + model.run_begin[joint.parent],
                                 model.runs.begin() + model.run_begin[joint.parent + 1]);
    if (!path.empty() && path.back().first + path.back().count == joint.column)
      path.back().count += count;
    else
      path.push_back({joint.column, count});
    model.runs.insert(model.runs.end(), path.begin(), path.end());
    model.run_begin[i + 1] = static_cast<int>(model.runs.size());
  }
}

void find_factor_rows(Model& model) {
  const std::size_t n = static_cast<std::size_t>(model.n_v);
  std::vector<std::vector<bool>> filled(n, std::vector<bool>(n));
  const auto couple = [&](int column_a, int column_b) {
    const auto [a, b] = std::minmax(model.column_v[column_a], model.column_v[column_b]);
    if (a != b) filled[b][a] = true;
  };
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    for (int c = joint.column; c < joint.column + joint_layout(joint.type).n_v; ++c)
      for (int r = model.run_begin[i]; r < model.run_begin[i + 1]; ++r)
        for (int l = 0; l < model.runs[r].count; ++l) couple(c, model.runs[r].first + l);
  }
  // Elimination of coordinate k couples all coordinates that are coupled with k. In a tree without
  // mimic joints these are coupled already. The search costs n^3, so larger models with mimic
  // joints are treated as fully coupled.
  constexpr std::size_t largest_searched = 512;
  if (model.has_mimic && n > largest_searched)
    for (std::size_t k = 0; k < n; ++k) filled[k].assign(n, true);
  else if (model.has_mimic)
    for (std::size_t k = n; k-- > 0;)
      for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; filled[k][i] && j < i; ++j)
          if (filled[k][j]) filled[i][j] = true;
  model.rows.clear();
  model.row_begin.assign(n + 1, 0);
  model.columns.clear();
  model.column_begin.assign(n + 1, 0);
  model.related.assign(n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k; i-- > 0;)
      if (filled[k][i]) model.rows.push_back(static_cast<int>(i));
    model.row_begin[k + 1] = static_cast<int>(model.rows.size());
    for (std::size_t i = k + 1; i < n; ++i)
      if (filled[i][k]) model.columns.push_back(static_cast<int>(i));
    model.column_begin[k + 1] = static_cast<int>(model.columns.size());
    for (std::size_t i = 0; i < n; ++i)
      if (i == k || filled[std::max(i, k)][std::min(i, k)])
        model.related[k] |= std::uint64_t{1} << std::min<std::size_t>(i / 8, 63);
  }
}

}  // namespace

std::vector<int> massless_joints(const Model& model) {
  const std::size_t n = model.joints.size();
  std::vector<double> moved(n);
  std::vector<bool> moments(n);  // true if the body or a descendant has moments
  std::vector<bool> heavy(static_cast<std::size_t>(model.n_v));
  for (std::size_t i = n - 1; i > 0; --i) {
    const Joint& joint = model.joints[i];
    const std::size_t parent = static_cast<std::size_t>(joint.parent);
    moved[i] += model.inertias[i].mass;
    moved[parent] += moved[i];
    moments[i] = moments[i] || has_moments(model.inertias[i]);
    moments[parent] = moments[parent] || moments[i];
    // Moments without mass resist rotation, but not translation.
    const bool turns = joint_layout(joint.type).n_v == 1 && joint_layout(joint.type).is_angular(0);
    const bool has_mass =
        (moved[i] > 0 || (turns && moments[i])) && (!joint.mimic || joint.ratio != 0);
    for (int k = 0; k < joint.n_v; ++k)
      if (has_mass || model.armature[joint.v_index + k] > 0) heavy[joint.v_index + k] = true;
  }
  std::vector<int> massless;
  for (std::size_t i = 1; i < n; ++i)
    if (const Joint& joint = model.joints[i]; !joint.mimic && !heavy[joint.v_index])
      massless.push_back(static_cast<int>(i));
  return massless;
}

void number_columns(Model& model) {
  number_paths(model);
  find_factor_rows(model);
}

}  // namespace robosim
