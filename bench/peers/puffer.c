// Steps of PufferLib's Boxoban, its own header, as its binding calls them: one environment after the other, on one
// thread. puffer_steps.py builds and runs it:  ./puffer MAPS SLOTS STEPS  prints millions of steps per second of CPU
// time, the median of five rounds, and writes where the slots are after STEPS steps of each to the file MAPS.after.
#define BOXOBAN_MAPS_IMPLEMENTATION
#include "boxoban.h"

enum { kSide = 10, kPlanes = 4 * kSide * kSide, kMostSteps = 120, kRounds = 5, kRing = 13 };

static uint64_t state;

static uint64_t next_word(void) {  // SplitMix64
  uint64_t z = state += 0x9e3779b97f4a7c15U;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27) * 0x94d049bb133111ebU;
  return z ^ z >> 31;
}

static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

int main(int count, char** words) {
  if (count != 4 || boxoban_set_map_path(words[1])) return 2;
  const int slots = atoi(words[2]), checked = atoi(words[3]);
  Boxoban* envs = calloc(slots, sizeof(Boxoban));
  unsigned char* boards = malloc((size_t)slots * kPlanes);
  unsigned char* ends = calloc(slots, 1);
  float* rewards = calloc(slots, sizeof(float));
  int* actions = malloc(sizeof(int) * slots);
  int* ring = malloc(sizeof(int) * slots * kRing);
  for (int i = 0; i < slots * kRing; ++i) ring[i] = 1 + (int)(next_word() >> 62);
  for (int i = 0; i < slots; ++i) {
    envs[i].observations = boards + (size_t)i * kPlanes;
    envs[i].actions = actions + i;
    envs[i].rewards = rewards + i;
    envs[i].terminals = ends + i;
    envs[i].size = kSide;
    envs[i].max_steps = kMostSteps;
    init(&envs[i]);
    c_reset(&envs[i]);
    memcpy(envs[i].observations, MAP_BASE + (i % PUZZLE_COUNT) * PUZZLE_SIZE, PUZZLE_SIZE);  // which, is then known
    get_agent_pos(&envs[i]);
  }
  double rates[kRounds];
  for (int round = -1, step = 0; round < kRounds; ++round) {
    long steps = 0;
    const double begun = cpu_seconds();
    double spent = 0;
    do {
      memcpy(actions, ring + (size_t)(step % kRing) * slots, sizeof(int) * slots);
      for (int i = 0; i < slots; ++i) c_step(&envs[i]);
      steps += slots;
      if (++step == checked) {
        char name[4096];
        snprintf(name, sizeof name, "%s.after", words[1]);
        FILE* file = fopen(name, "wb");
        fwrite(boards, kPlanes, slots, file);
        fwrite(ring, sizeof(int), (size_t)slots * kRing, file);
        fclose(file);
      }
    } while ((spent = cpu_seconds() - begun) < 1.0);
    if (round >= 0) rates[round] = steps / spent / 1e6;
  }
  qsort(rates, kRounds, sizeof(double), ascending);
  printf("%.1f\n", rates[kRounds / 2]);
  return 0;
}
