// The sliding search, compiled for boards of two rows.
#include "sliding/search/tree.hpp"

namespace recommit::sliding {

template std::unique_ptr<Search> make_search<2>(std::shared_ptr<const Model>, const SearchOptions&);

}  // namespace recommit::sliding
