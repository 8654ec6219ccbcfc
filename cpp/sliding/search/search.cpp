// The search's choice by number of rows, and its account of effort.
#include "sliding/search/search.hpp"

#include <algorithm>
#include <utility>

namespace recommit::sliding {

// In search_2rows.cpp to search_5rows.cpp.
template <int Rows>
std::unique_ptr<Search> make_search(std::shared_ptr<const Model> model, const SearchOptions& options);
extern template std::unique_ptr<Search> make_search<2>(std::shared_ptr<const Model>, const SearchOptions&);
extern template std::unique_ptr<Search> make_search<3>(std::shared_ptr<const Model>, const SearchOptions&);
extern template std::unique_ptr<Search> make_search<4>(std::shared_ptr<const Model>, const SearchOptions&);
extern template std::unique_ptr<Search> make_search<5>(std::shared_ptr<const Model>, const SearchOptions&);

Effort::Effort(const Limits& limits, Watch* watch) : limit_(limits.nodes), timed_(limits.seconds < 1e9), watch_(watch) {
  if (timed_) {
    deadline_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.seconds));
  }
}

std::uint64_t Effort::allowance() const noexcept { return std::min(limit_ - nodes_, kChunk); }

Status Effort::check(std::uint64_t visited) {
  nodes_ += visited;
  if (watch_ != nullptr) watch_->poll();
  if (nodes_ >= limit_) return Status::NodeLimit;
  return timed_ && Clock::now() >= deadline_ ? Status::TimeLimit : Status::Exact;
}

std::unique_ptr<Search> Search::make(std::shared_ptr<const Model> model, const SearchOptions& options) {
  switch (model->shape().rows) {
    case 2: return make_search<2>(std::move(model), options);
    case 3: return make_search<3>(std::move(model), options);
    case 4: return make_search<4>(std::move(model), options);
    default: return make_search<5>(std::move(model), options);
  }
}

}  // namespace recommit::sliding
