// Reference to a callable: two words, no allocation, no ownership. The callable must outlive the
// reference, so the type is meant for parameters: `void each(FunctionRef<void(int)> visit)` accepts
// a lambda written in the call. (std::function owns its callable and may allocate;
// std::function_ref comes with C++26.)
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace robosim {

template <class Signature>
class FunctionRef;

template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class F>
  requires(std::is_object_v<std::remove_reference_t<F>> &&
           !std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<Result, F&, Args...>) FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

}  // namespace robosim
