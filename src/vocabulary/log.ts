/** The process log on stderr. It is not the log of calls: no credential, prompt or answer is in it. */
import { type DestinationStream, type Logger, pino } from 'pino';

const LEVEL_NAMES: Readonly<Record<string, string>> = {
  debug: 'debug',
  info: 'info ',
  warn: 'WARN ',
  error: 'ERROR',
  fatal: 'FATAL',
};

const SHOWN_ELSEWHERE = new Set(['time', 'level', 'pid', 'process', 'msg', 'err']);

/** Characters that could control a terminal or forge an entry; JSON escapes only some of them. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function formatValue(value: unknown): string {
  return typeof value === 'string' && !/[\s="]/.test(value) ? value : JSON.stringify(value);
}

/** Lines are indented, so that a line end inside a message begins no entry. */
function stackLines(stack: string): string {
  return stack
    .split('\n')
    .map((line) => `\n  ${escapeUnsafe(line)}`)
    .join('');
}

/** `12:00:01 info  proxy  listening port=4141`; a stack follows. */
export function formatLine(json: string): string {
  const entry: Record<string, unknown> = JSON.parse(json);
  const time = String(entry['time']).slice(11, 19);
  const level = LEVEL_NAMES[String(entry['level'])] ?? String(entry['level']);
  const fields = Object.entries(entry)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => ` ${escapeUnsafe(`${name}=${formatValue(value)}`)}`);
  const error = entry['err'];
  const stack = typeof error === 'object' && error !== null && 'stack' in error ? stackLines(String(error.stack)) : '';
  const message = escapeUnsafe(String(entry['msg'] ?? ''));
  return `${time} ${level} ${String(entry['process']).padEnd(10)} ${message}${fields.join('')}${stack}\n`;
}

export interface LogSettings {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly role: string;
}

function openStderr(): DestinationStream {
  if (process.stderr.isTTY) {
    return { write: (line) => void process.stderr.write(formatLine(line)) };
  }
  // Synchronous, so that the last lines before a death are written.
  const destination = pino.destination({ fd: 2, sync: true });
  // The reader may be gone (the parent was killed): the gateway works on without its log.
  destination.on('error', () => {});
  return destination;
}

export function createLog(settings: LogSettings): Logger {
  const log = pino(
    {
      level: settings.level,
      base: { process: settings.role, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    openStderr(),
  );
  logWarnings(log);
  return log;
}

/** Plain-text warnings of Node and libraries would break the stream of JSON lines. */
function logWarnings(log: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => log.warn({ warning: name }, message));
}
