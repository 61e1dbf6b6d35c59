#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include "base/lanes.h"
using namespace robosim;
TEST_CASE("x") { Lanes<lanes_of(own_isa), own_isa> x(3.0); CHECK((x*x)[1] == 9.0); }
