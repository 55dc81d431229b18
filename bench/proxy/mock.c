// The provider of the benchmark: replays prepared answers over HTTP/1.1 keep-alive, single-threaded, epoll.
// It is not a model of a provider: it reads of a request only what chooses the answer. The answers themselves are
// files written by answers.ts, so this program knows no JSON and no compression.
//
//   mock FAST_MS SLOW_MS FILE...     FILEs in the order of enum answer; prints "port N" when it listens
//
// A file is a row of segments: u32 length, u32 offset of a stamp (0xffffffff: none), bytes; little-endian. The first
// two leave at once (head, first event); each further one follows the one before by the pace. A stamp is 19 digits, overwritten with
// CLOCK_MONOTONIC in nanoseconds when the segment is sent, so that a load generator on the same machine can tell how
// long a chunk was on its way. Pace: FAST_MS, or SLOW_MS when the request head has "x-mock-pace: slow".
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum answer { JSON, SSE, SSE_USAGE, SSE_GZIP, SSE_USAGE_GZIP, ANSWERS };
enum { MAX_SEGMENTS = 4096, MAX_REQUEST = 1 << 20, STAMP_DIGITS = 19 };
#define NO_STAMP 0xffffffffu

struct segment { uint32_t length, stamp; const char *bytes; };
struct script { int count; struct segment segments[MAX_SEGMENTS]; };

struct connection {
  int fd, pace, wants_write, dead;
  char *request; size_t request_length, request_room;
  const struct script *script; int next_segment; // script is null between answers
  char *out; size_t out_length, out_sent, out_room;
  uint64_t due_ns; int queued; struct connection *after, *before; // place in the queue of its pace
};

// All connections of one pace wait equally long, so the queue is in order of due time without sorting.
struct queue { uint64_t pace_ns; struct connection *first, *last; };

static struct script scripts[ANSWERS];
static struct queue queues[2];
static int epoll_fd;

static void fail(const char *what) { perror(what); exit(1); }

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *grown(void *memory, size_t *room, size_t needed) {
  if (needed <= *room) return memory;
  *room = needed * 2;
  memory = realloc(memory, *room);
  if (!memory) fail("realloc");
  return memory;
}

static void read_script(struct script *script, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail(path);
  uint32_t header[2];
  while (fread(header, sizeof header, 1, file) == 1) {
    if (script->count == MAX_SEGMENTS) { fprintf(stderr, "%s: too many segments\n", path); exit(1); }
    char *bytes = malloc(header[0]);
    if (!bytes || fread(bytes, 1, header[0], file) != header[0]) fail(path);
    script->segments[script->count++] = (struct segment){header[0], header[1], bytes};
  }
  fclose(file);
}

static void leave_queue(struct connection *c) {
  if (!c->queued) return;
  struct queue *queue = &queues[c->pace];
  if (c->before) c->before->after = c->after; else queue->first = c->after;
  if (c->after) c->after->before = c->before; else queue->last = c->before;
  c->queued = 0;
}

static void enter_queue(struct connection *c, uint64_t due_ns) {
  struct queue *queue = &queues[c->pace];
  c->due_ns = due_ns;
  c->before = queue->last;
  c->after = NULL;
  if (queue->last) queue->last->after = c; else queue->first = c;
  queue->last = c;
  c->queued = 1;
}

static void listen_for_write(struct connection *c, int wanted) {
  if (c->wants_write == wanted) return;
  c->wants_write = wanted;
  struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &event);
}

// Writes what is pending; what the socket does not take waits for EPOLLOUT.
static void flush(struct connection *c) {
  while (c->out_sent < c->out_length) {
    ssize_t written = write(c->fd, c->out + c->out_sent, c->out_length - c->out_sent);
    if (written < 0) {
      if (errno == EAGAIN) listen_for_write(c, 1); else c->dead = 1;
      return;
    }
    c->out_sent += (size_t)written;
  }
  c->out_sent = c->out_length = 0;
  listen_for_write(c, 0);
}

static void put_segment(struct connection *c) {
  const struct segment *segment = &c->script->segments[c->next_segment++];
  c->out = grown(c->out, &c->out_room, c->out_length + segment->length);
  char *place = c->out + c->out_length;
  memcpy(place, segment->bytes, segment->length);
  if (segment->stamp != NO_STAMP) {
    char digits[STAMP_DIGITS + 1];
    snprintf(digits, sizeof digits, "%019llu", (unsigned long long)now_ns());
    memcpy(place + segment->stamp, digits, STAMP_DIGITS);
  }
  c->out_length += segment->length;
  if (c->next_segment == c->script->count) c->script = NULL;
}

// Is this member `true`? With or without space around the colon; the first of that name counts.
static int is_true(const char *json, const char *quoted_name) {
  const char *at = strstr(json, quoted_name);
  if (!at) return 0;
  at += strlen(quoted_name);
  at += strspn(at, " :");
  return !strncmp(at, "true", 4);
}

static void start_answer(struct connection *c, const char *head, const char *body) {
  enum answer answer = JSON;
  if (is_true(body, "\"stream\"")) {
    int usage = is_true(body, "\"include_usage\"");
    const char *encoding = strcasestr(head, "\r\naccept-encoding:");
    const char *line_end = encoding ? strstr(encoding + 2, "\r\n") : NULL;
    const char *gzip = encoding ? strcasestr(encoding, "gzip") : NULL;
    int compressed = gzip && line_end && gzip < line_end;
    answer = compressed ? (usage ? SSE_USAGE_GZIP : SSE_GZIP) : (usage ? SSE_USAGE : SSE);
  }
  c->pace = strcasestr(head, "\r\nx-mock-pace: slow") != NULL;
  c->script = &scripts[answer];
  c->next_segment = 0;
  put_segment(c);
  if (c->script) put_segment(c);
  flush(c);
  if (c->script && !c->dead) enter_queue(c, now_ns() + queues[c->pace].pace_ns);
}

// A chunked body ends with an empty chunk; the bodies sent here never hold that byte sequence themselves.
static long body_length(const char *head, const char *body, size_t available) {
  const char *length = strcasestr(head, "\r\ncontent-length:");
  if (length) return atol(length + 17);
  if (!strcasestr(head, "\r\ntransfer-encoding:")) return 0;
  const char *end = memmem(body, available, "0\r\n\r\n", 5);
  return end ? end + 5 - body : -1;
}

static void read_requests(struct connection *c) {
  while (c->request_length && !c->script && !c->dead) {
    c->request[c->request_length] = 0;
    char *end = strstr(c->request, "\r\n\r\n");
    if (!end) return;
    char *body = end + 4;
    size_t available = c->request_length - (size_t)(body - c->request);
    char kept = end[2];
    end[2] = 0; // the head alone, its last line end included
    long length = body_length(c->request, body, available);
    if (length < 0 || (size_t)length > available) { end[2] = kept; return; }
    char after = body[length];
    body[length] = 0;
    start_answer(c, c->request, body);
    body[length] = after;
    size_t rest = available - (size_t)length;
    memmove(c->request, body + length, rest);
    c->request_length = rest;
  }
  if (c->request_length == 0) { free(c->request); c->request = NULL; c->request_room = 0; }
}

static void receive(struct connection *c) {
  static char bytes[65536];
  ssize_t length = read(c->fd, bytes, sizeof bytes);
  if (length < 0 && errno == EAGAIN) return;
  if (length <= 0 || c->request_length + (size_t)length > MAX_REQUEST) { c->dead = 1; return; }
  c->request = grown(c->request, &c->request_room, c->request_length + (size_t)length + 1);
  memcpy(c->request + c->request_length, bytes, (size_t)length);
  c->request_length += (size_t)length;
  read_requests(c);
}

static void close_connection(struct connection *c) {
  leave_queue(c);
  close(c->fd);
  free(c->request);
  free(c->out);
  free(c);
}

static void send_due(struct queue *queue) {
  uint64_t now = now_ns();
  struct connection *c;
  while ((c = queue->first) && c->due_ns <= now) {
    uint64_t due = c->due_ns;
    leave_queue(c);
    put_segment(c);
    flush(c);
    if (c->dead) close_connection(c);
    else if (c->script) enter_queue(c, due + queue->pace_ns);
    else { read_requests(c); if (c->dead) close_connection(c); }
  }
}

static void arm(int timer_fd) {
  uint64_t next = 0;
  for (int i = 0; i < 2; i++)
    if (queues[i].first && (!next || queues[i].first->due_ns < next)) next = queues[i].first->due_ns;
  struct itimerspec when = {.it_value = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)}};
  timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static int listen_on_loopback(void) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(fd, (void *)&address, length) || listen(fd, 8192)) fail("listen");
  getsockname(fd, (void *)&address, &length);
  printf("port %d\n", ntohs(address.sin_port));
  fflush(stdout);
  return fd;
}

static void accept_all(int listen_fd) {
  int fd, one = 1;
  while ((fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection *c = calloc(1, sizeof *c);
    if (!c) fail("calloc");
    c->fd = fd;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
  }
}

int main(int count, char **arguments) {
  if (count != 3 + ANSWERS) { fprintf(stderr, "mock FAST_MS SLOW_MS and %d answer files\n", ANSWERS); return 1; }
  signal(SIGPIPE, SIG_IGN);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  for (int i = 0; i < 2; i++) queues[i].pace_ns = (uint64_t)atol(arguments[1 + i]) * 1000000u;
  for (int i = 0; i < ANSWERS; i++) read_script(&scripts[i], arguments[3 + i]);
  epoll_fd = epoll_create1(0);
  int timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), listen_fd = listen_on_loopback();
  struct epoll_event for_timer = {.events = EPOLLIN, .data.ptr = &timer_fd};
  struct epoll_event for_listen = {.events = EPOLLIN, .data.ptr = &listen_fd};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &for_timer);
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listen_fd, &for_listen);
  static struct epoll_event events[256];
  for (;;) {
    arm(timer_fd);
    int ready = epoll_wait(epoll_fd, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      void *source = events[i].data.ptr;
      if (source == &listen_fd) { accept_all(listen_fd); continue; }
      if (source == &timer_fd) { uint64_t ticks; if (read(timer_fd, &ticks, sizeof ticks) < 0) {} continue; }
      struct connection *c = source;
      if (events[i].events & EPOLLOUT) flush(c);
      if (!c->dead && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
      if (c->dead) close_connection(c);
    }
    // After the reads, never between them: a closed connection must not be in the list of this turn's events.
    for (int i = 0; i < 2; i++) send_due(&queues[i]);
  }
}
