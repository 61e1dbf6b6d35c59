// Derivatives of distances between the objects of a scene with respect to the configuration.
#include "scene/configuration_rates.h"

#include "bindings/bound_scene.h"
#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "geometry/smoothed_distance.h"
#include "scene/piece_rates.h"

namespace py = pybind11;

namespace robosim {

void bind_configuration_rates(py::module_& m) {
  m.def(
      "contact_rates",
      [](BoundScene& s, const py::handle& q, double margin, double smoothing) {
        const Array p = s.configuration(q);
        if (!(margin >= 0))
          throw InputError(message("margin is ", margin, " m; it must not be negative"));
        if (smoothing != 0) checked_smoothing(smoothing);
        const Model& model = s.scene.model();
        std::vector<WitnessRate> rates(static_cast<std::size_t>(model.n_v));
        std::vector<const WitnessRate*> all;
        for (const WitnessRate& rate : rates) all.push_back(&rate);
        const BoundScene::Lease checker(s);
        SceneQuery& query = checker.at(p);
        query.place_motions();
        std::vector<SceneQuery::Contact> contacts;
        query.contacts(margin, contacts);
        py::list out;
        for (const SceneQuery::Contact& c : contacts) {
          const SceneObject &A = s.scene.object(c.a), &B = s.scene.object(c.b);
          const CollisionGeometry &a = A.geometry, &b = B.geometry;
          const auto give = [&](const Witness& w, const LocalSurface& at_A,
                                const LocalSurface& at_B, bool one_sided) {
            out.append(py::make_tuple(A.name, B.name, witness_tuple(w),
                                      rates_tuple(all, {model.n_v}), feature_tuple(at_A),
                                      feature_tuple(at_B), one_sided));
          };
          if (a.compound || b.compound || (smoothing == 0 && !(a.is_shape() && b.is_shape()))) {
            const WitnessDerivatives d = piece_rates(query, c, rates.data());
            give(c.witness, d.A, d.B, d.one_sided);
            continue;
          }
          const SE3d &X_WA = query.X_WO(c.a), &X_WB = query.X_WO(c.b);
          const WitnessFactors factors =
              smoothing == 0 ? witness_factors(c.witness, a.shape, X_WA, b.shape, X_WB)
                             : smoothed_distance(smoothing, a.shape, X_WA, b.shape, X_WB);
          const Witness& w = a.is_shape() && b.is_shape() ? c.witness : factors.witness;
          witness_rates(model, query.data(), A.body, B.body, factors, rates.data());
          give(factors.witness, local_surface(a.shape, X_WA, w.p_WA, w.normal),
               local_surface(b.shape, X_WB, w.p_WB, -w.normal), factors.one_sided);
        }
        return out;
      },
      py::arg("scene"), py::arg("q"), py::arg("margin"), py::arg("smoothing"),
      "See robosim.scene.contact_derivatives.");
}

}  // namespace robosim
