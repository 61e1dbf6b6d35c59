// Derivatives of distances between the objects of a scene with respect to the configuration.
#include "scene/configuration_rates.h"

#include "bindings/bound_scene.h"
#include "bindings/module.h"
#include "bindings/shape_arguments.h"

namespace py = pybind11;

namespace robosim {

void bind_configuration_rates(py::module_& m) {
  m.def(
      "contact_rates",
      [](BoundScene& s, const py::handle& q, double margin) {
        const Array p = s.configuration(q);
        if (!(margin >= 0)) throw InputError(message("margin is ", margin, " m; it must not be negative"));
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
          const WitnessDerivatives d = witness_derivatives(c.witness, A.shape, query.X_WO(c.a), B.shape, query.X_WO(c.b));
          witness_rates(model, query.data(), A, B, d, rates.data());
          out.append(py::make_tuple(A.name, B.name, witness_tuple(c.witness), rates_tuple(all, {model.n_v}), feature_tuple(d.A), feature_tuple(d.B),
                                    d.one_sided));
        }
        return out;
      },
      py::arg("scene"), py::arg("q"), py::arg("margin"), "See robosim.scene.contact_derivatives.");
}

}  // namespace robosim
