// List of all kinds of constraints. To add a kind, add a file to this folder and its name below.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "step/constraints/contact.h"
#include "step/constraints/dry_friction.h"
#include "step/constraints/frame_closure.h"
#include "step/constraints/joint_equality.h"
#include "step/constraints/joint_limit.h"
#include "step/constraints/motor.h"
#include "step/constraints/speed_limit.h"

namespace robosim {

// Kinds with their own blocks of channels, in the order of their blocks, and kinds with rows on a
// single coordinate, in the order of its rows.
using BlockKinds = std::tuple<ClosureOfFrames, EqualityOfJoints, Contact>;
using CoordinateKinds = std::tuple<DryFriction, JointMotor, JointLimit, SpeedLimit>;
using ConstraintKinds = decltype(std::tuple_cat(BlockKinds(), CoordinateKinds()));

// Call f(kind) for each kind of a list.
template <class Kinds, class F>
void for_each_kind(F&& f) {
  std::apply([&](auto... kinds) { (f(kinds), ...); }, Kinds());
}

// Index of a kind in the list of all kinds.
template <class Kind>
constexpr std::uint8_t kind_index() {
  std::uint8_t index = 0;
  bool is_found = false;
  [&]<class... Kinds>(std::tuple<Kinds...>*) {
    ((is_found = is_found || std::is_same_v<Kind, Kinds>, index += !is_found), ...);
  }(static_cast<ConstraintKinds*>(nullptr));
  return index;
}

// True if a row is of this kind, and has this role.
template <class Kind>
bool is_of(const StepIsland::Row& row) {
  return row.kind == kind_index<Kind>();
}
template <class Kind>
bool is_of(const StepIsland::Row& row, typename Kind::Role role) {
  return is_of<Kind>(row) && row.role == role;
}

template <class Kind>
bool is_of(const StepIsland::Block& block) {
  return block.kind == kind_index<Kind>();
}

// Call f(kind) for the kind of a row, if the list has it.
template <class Kinds, class F>
void visit_kind(const StepIsland::Row& row, F&& f) {
  for_each_kind<Kinds>([&](auto kind) {
    if (is_of<decltype(kind)>(row)) f(kind);
  });
}

// Name of a row.
inline const char* row_name(const StepIsland::Row& row) {
  const char* name = "";
  visit_kind<ConstraintKinds>(row, [&](auto kind) { name = kind.roles[row.role]; });
  return name;
}

// Call f(kind) for the kind of a block, unless several kinds share the block.
template <class F>
void visit_kind(const StepIsland::Block& block, F&& f) {
  for_each_kind<BlockKinds>([&](auto kind) {
    if (is_of<decltype(kind)>(block)) f(kind);
  });
}

template <class Kind>
RowBlock& RowAssembly::add_block(StepIsland& island, StepIsland::Block block, int width) {
  if (block.is_of_bodies() && !block.turns && !std::is_same_v<Kind, Contact>)
    throw std::logic_error("only contacts may have channels that do not turn");
  if (block.is_of_bodies() && width != block.width())
    throw std::logic_error("channels of bodies are as many as Block::width");
  block.kind = kind_index<Kind>();
  return append(island, block, width);
}

template <class Kind>
ConstraintRow& RowAssembly::add_row(StepIsland& island, typename Kind::Role role, int point,
                                    int manifold) {
  island.rows.push_back({.kind = kind_index<Kind>(),
                         .role = static_cast<std::uint8_t>(role),
                         .manifold = manifold,
                         .point = point});
  ++island.problem.blocks.back().last_row;
  return island.problem.rows.emplace_back();
}

}  // namespace robosim
