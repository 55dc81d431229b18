// The client of the benchmark: sends one prepared request again and again over HTTP/1.1 keep-alive connections,
// single-threaded, epoll. It checks status and length of every answer, and reads the stamps that mock.c puts into
// chunks; it does not understand what the answers say.
//
//   load -p PORT -q REQUEST_FILE -c CONNECTIONS (-n ANSWERS | -d SECONDS) [-w SECONDS] [-s SECONDS] [-r RATE] [-l BYTES]
//     -n  stop after so many whole answers (warm-up); -d measure for so long, after -w
//     -s  spread the first requests of the connections over so long, so that streams do not move in step
//     -r  open loop: so many requests a second; a latency counts from the time the request was due
//     -l  the length that every body must have
//
// Prints "begin" when the window opens and "end {…}" when it closes, so that the runner can read CPU clocks at both.
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

enum { MAX_HEAD = 8192, STAMP_DIGITS = 19, MAX_WAITING = 1 << 16 };
enum part { HEAD, BODY, CHUNK_SIZE, CHUNK_BYTES, CHUNK_END, TRAILERS };
static const char STAMP_MARK[] = "~ts=";

struct connection {
  int fd, busy, wants_write, status, line_length;
  enum part part;
  char head[MAX_HEAD]; int head_length;
  uint64_t left, body_bytes, asked_ns;
  size_t request_sent;
  int mark_seen, digits_seen; uint64_t stamp; // a stamp may be cut anywhere
  int started; struct connection *next_idle;
};

struct samples { uint32_t *tenths_us; size_t count, room; };

static struct { int port, connections; long answers; double seconds, settle, spread, rate; long length; } want;
static char *request; static size_t request_length;
static struct samples latencies, first_bytes, chunk_delays;
static uint64_t answers_done, body_bytes_read, chunks_read, errors, bad_status, bad_length;
static int measuring, epoll_fd;
static struct connection *idle;
static uint64_t waiting[MAX_WAITING]; static uint32_t waiting_in, waiting_out;

static void fail(const char *what) { perror(what); exit(1); }

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void add_sample(struct samples *samples, uint64_t from_ns, uint64_t to_ns) {
  if (samples->count == samples->room) {
    samples->room = samples->room ? samples->room * 2 : 65536;
    samples->tenths_us = realloc(samples->tenths_us, samples->room * sizeof *samples->tenths_us);
    if (!samples->tenths_us) fail("realloc");
  }
  samples->tenths_us[samples->count++] = to_ns > from_ns ? (uint32_t)((to_ns - from_ns) / 100) : 0;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void print_samples(const char *name, struct samples *s) {
  qsort(s->tenths_us, s->count, sizeof *s->tenths_us, ascending);
  printf(",\"%s\":", name);
  if (!s->count) { printf("null"); return; }
  printf("{\"p50\":%.1f,\"p99\":%.1f}", s->tenths_us[s->count / 2] / 10.0, s->tenths_us[s->count * 99 / 100] / 10.0);
}

static void listen_for_write(struct connection *c, int wanted) {
  if (c->wants_write == wanted) return;
  c->wants_write = wanted;
  struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &event);
}

static void send_request(struct connection *c) {
  while (c->request_sent < request_length) {
    ssize_t written = write(c->fd, request + c->request_sent, request_length - c->request_sent);
    if (written < 0) { listen_for_write(c, 1); return; } // a broken socket shows itself in the next read
    c->request_sent += (size_t)written;
  }
  listen_for_write(c, 0);
}

static void open_socket(struct connection *c) {
  int one = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)want.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (c->fd < 0) fail("socket");
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect(c->fd, (void *)&address, sizeof address) && errno != EINPROGRESS) fail("connect");
  c->wants_write = 1;
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event);
}

static void ask(struct connection *c, uint64_t due_ns) {
  c->busy = 1;
  c->asked_ns = due_ns;
  c->part = HEAD;
  c->head_length = 0;
  c->body_bytes = 0;
  c->request_sent = 0;
  if (c->fd < 0) open_socket(c); else send_request(c);
}

static void next_or_idle(struct connection *c) {
  c->busy = 0;
  if (want.rate <= 0) { ask(c, now_ns()); return; }
  if (waiting_in != waiting_out) { ask(c, waiting[waiting_out++ % MAX_WAITING]); return; }
  c->next_idle = idle;
  idle = c;
}

static void give_up(struct connection *c) {
  close(c->fd);
  c->fd = -1;
  if (c->busy) {
    errors++;
    if (errors > 100000) fail("too many errors");
    next_or_idle(c);
  }
}

static void finish(struct connection *c) {
  answers_done++;
  if (c->status != 200) bad_status++;
  else if (want.length && c->body_bytes != (uint64_t)want.length) bad_length++;
  if (measuring) add_sample(&latencies, c->asked_ns, now_ns());
}

// Counts body bytes and reads stamps; a stamp's delay is taken once per read, when its last digit is seen.
static void take_body(struct connection *c, const char *bytes, size_t length) {
  if (c->body_bytes == 0 && measuring) add_sample(&first_bytes, c->asked_ns, now_ns());
  c->body_bytes += length;
  body_bytes_read += length;
  uint64_t now = 0;
  for (size_t i = 0; i < length; i++) {
    char x = bytes[i];
    if (c->mark_seen < 4) {
      c->mark_seen = x == STAMP_MARK[c->mark_seen] ? c->mark_seen + 1 : x == STAMP_MARK[0];
      c->digits_seen = 0;
      c->stamp = 0;
    } else if (x >= '0' && x <= '9') {
      c->stamp = c->stamp * 10 + (uint64_t)(x - '0');
      if (++c->digits_seen < STAMP_DIGITS) continue;
      c->mark_seen = 0;
      chunks_read++;
      if (!now) now = now_ns();
      // The provider leaves zeros where it sent a compressed event, which somebody else has unpacked on the way.
      if (measuring && c->stamp > 0) add_sample(&chunk_delays, c->stamp, now);
    } else c->mark_seen = 0;
  }
}

// 1: the head is whole and a body follows; 0: more is needed or there is no body; -1: not understood.
static int read_head(struct connection *c) {
  c->head[c->head_length] = 0;
  c->status = atoi(c->head + 9);
  if (c->status == 100) { c->head_length = 0; return 0; }
  const char *length = strcasestr(c->head, "\r\ncontent-length:");
  if (strcasestr(c->head, "\r\ntransfer-encoding: chunked")) { c->part = CHUNK_SIZE; c->left = 0; }
  else if (length) { c->part = BODY; c->left = strtoull(length + 17, NULL, 10); }
  else return -1;
  return 1;
}

static int hex_digit(char x) {
  if (x >= '0' && x <= '9') return x - '0';
  x |= 32;
  return x >= 'a' && x <= 'f' ? x - 'a' + 10 : -1;
}

// Returns 1 when the answer is whole, 0 when more is needed, -1 when it is not HTTP as expected here.
static int take(struct connection *c, const char *bytes, size_t length) {
  size_t i = 0;
  while (i < length) {
    size_t rest = length - i, run = rest < c->left ? rest : (size_t)c->left;
    switch (c->part) {
      case HEAD:
        if (c->head_length == MAX_HEAD - 1) return -1;
        c->head[c->head_length++] = bytes[i++];
        if (c->head_length >= 4 && !memcmp(c->head + c->head_length - 4, "\r\n\r\n", 4) && read_head(c) < 0) return -1;
        if (c->part == BODY && c->left == 0) return 1;
        break;
      case BODY:
      case CHUNK_BYTES:
        take_body(c, bytes + i, run);
        i += run;
        c->left -= run;
        if (c->left) break;
        if (c->part == BODY) return 1;
        c->part = CHUNK_END;
        break;
      case CHUNK_SIZE: {
        char x = bytes[i++];
        if (x == '\n') { c->part = c->left ? CHUNK_BYTES : TRAILERS; c->line_length = 0; }
        else if (x != '\r') { if (hex_digit(x) < 0) return -1; c->left = c->left * 16 + (uint64_t)hex_digit(x); }
        break;
      }
      case CHUNK_END:
        if (bytes[i++] == '\n') { c->part = CHUNK_SIZE; c->left = 0; }
        break;
      case TRAILERS: {
        char x = bytes[i++];
        if (x == '\n') { if (!c->line_length) return 1; c->line_length = 0; }
        else if (x != '\r') c->line_length++;
        break;
      }
    }
  }
  return 0;
}

static void receive(struct connection *c) {
  static char bytes[262144];
  ssize_t length = read(c->fd, bytes, sizeof bytes);
  if (length < 0 && errno == EAGAIN) return;
  if (length <= 0 || !c->busy) { give_up(c); return; }
  int result = take(c, bytes, (size_t)length);
  if (result < 0) { give_up(c); return; }
  if (result == 0) return;
  finish(c);
  next_or_idle(c);
}

static void set_wake_up(int timer_fd, uint64_t at_ns) {
  struct itimerspec when = {.it_value = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)}};
  timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void read_arguments(int count, char **arguments) {
  int option;
  const char *file_name = NULL;
  want.connections = 1;
  while ((option = getopt(count, arguments, "p:q:c:n:d:w:s:r:l:")) > 0) switch (option) {
    case 'p': want.port = atoi(optarg); break;
    case 'q': file_name = optarg; break;
    case 'c': want.connections = atoi(optarg); break;
    case 'n': want.answers = atol(optarg); break;
    case 'd': want.seconds = atof(optarg); break;
    case 'w': want.settle = atof(optarg); break;
    case 's': want.spread = atof(optarg); break;
    case 'r': want.rate = atof(optarg); break;
    case 'l': want.length = atol(optarg); break;
    default: exit(1);
  }
  FILE *file = file_name ? fopen(file_name, "rb") : NULL;
  if (!file) fail("request file");
  request = malloc(1 << 20);
  request_length = fread(request, 1, 1 << 20, file);
  fclose(file);
}

static void report(double seconds, const struct connection *connections) {
  int open = 0;
  for (int i = 0; i < want.connections; i++) open += connections[i].busy && connections[i].body_bytes > 0;
  printf("end {\"seconds\":%.4f,\"answers\":%llu,\"bodyBytes\":%llu,\"chunks\":%llu,\"errors\":%llu,\"badStatus\":%llu,\"badLength\":%llu,\"openStreams\":%d,\"notSent\":%u",
    seconds, (unsigned long long)answers_done, (unsigned long long)body_bytes_read, (unsigned long long)chunks_read,
    (unsigned long long)errors, (unsigned long long)bad_status, (unsigned long long)bad_length, open, waiting_in - waiting_out);
  print_samples("latencyUs", &latencies);
  print_samples("firstByteUs", &first_bytes);
  print_samples("chunkDelayUs", &chunk_delays);
  printf("}\n");
}

int main(int count, char **arguments) {
  signal(SIGPIPE, SIG_IGN);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  read_arguments(count, arguments);
  epoll_fd = epoll_create1(0);
  int timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), started = 0;
  struct epoll_event for_timer = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &for_timer);
  struct connection *connections = calloc((size_t)want.connections, sizeof *connections);
  if (!connections) fail("calloc");
  for (int i = want.connections - 1; i >= 0; i--) {
    connections[i].fd = -1;
    if (want.rate > 0) { connections[i].next_idle = idle; idle = &connections[i]; }
  }
  uint64_t start = now_ns(), opens = start + (uint64_t)(want.settle * 1e9), closes = opens + (uint64_t)(want.seconds * 1e9), began = 0, asked = 0;
  static struct epoll_event events[256];
  for (;;) {
    uint64_t now = now_ns();
    if (want.answers ? answers_done >= (uint64_t)want.answers : measuring && now >= closes) break;
    if (!want.answers && !measuring && now >= opens) {
      // What came before the window is not counted: errors are, since they say that the figures are not to be trusted.
      measuring = 1;
      began = now;
      answers_done = body_bytes_read = chunks_read = 0;
      printf("begin\n");
      fflush(stdout);
    }
    uint64_t wake = want.answers ? now + 100000000u : measuring ? closes : opens;
    if (want.rate > 0) {
      uint64_t due;
      while ((due = start + (uint64_t)((double)asked * 1e9 / want.rate)) <= now) {
        asked++;
        struct connection *c = idle;
        if (c) { idle = c->next_idle; ask(c, due); }
        else if (waiting_in - waiting_out < MAX_WAITING) waiting[waiting_in++ % MAX_WAITING] = due;
      }
      if (due < wake) wake = due;
    } else {
      uint64_t due = 0;
      while (started < want.connections && (due = start + (uint64_t)(want.spread * 1e9 * started / want.connections)) <= now)
        ask(&connections[started++], now);
      if (started < want.connections && due < wake) wake = due;
    }
    set_wake_up(timer_fd, wake);
    int ready = epoll_wait(epoll_fd, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      if (!c) { uint64_t ticks; if (read(timer_fd, &ticks, sizeof ticks) < 0) {} continue; }
      if (events[i].events & EPOLLOUT) send_request(c);
      if (c->fd >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
    }
  }
  report(began ? (double)(now_ns() - began) / 1e9 : (double)(now_ns() - start) / 1e9, connections);
  return 0;
}
