/**
 * Reads the head of a provider's answer, strictly (RFC 9112): what two readers could take in two ways is refused, not
 * repaired. Names and values stay as received, as Latin-1. It reads text that is already whole; see the parser for bytes.
 */

export type ResponseFault =
  | 'ANSWER_STATUS_LINE'
  | 'ANSWER_HEADER'
  | 'ANSWER_HEADERS_TOO_LARGE'
  | 'ANSWER_CONTENT_LENGTH'
  | 'ANSWER_TRANSFER_ENCODING'
  | 'ANSWER_CHUNK'
  | 'ANSWER_SWITCHES_PROTOCOL';

/** The answer is not HTTP that can be passed on. The code says what is wrong; nothing of the answer is in it. */
export class ResponseSyntaxError extends Error {
  readonly code: ResponseFault;

  constructor(code: ResponseFault) {
    super(`the provider's answer is not acceptable HTTP/1.1: ${code}`);
    this.name = 'ResponseSyntaxError';
    this.code = code;
  }
}

export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** Flat: name, value, name, value. */
  readonly rawHeaders: string[];
  readonly contentLength: number | null;
  readonly isChunked: boolean;
  /** By version and `Connection`; the framing of the body may still rule it out. */
  readonly isKeptAlive: boolean;
  /** What the provider says it keeps an idle connection for (`Keep-Alive: timeout=…`). */
  readonly keepAliveMs: number | null;
}

/** Control characters, and line ends that are not CR LF. Node's server would not write them either. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const UNACCEPTABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: (.*))?$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
/** 15 digits stay exact in a double, and are a petabyte. */
const LENGTH = /^\d{1,15}$/;

const SPACE = 0x20;
const TAB = 0x09;

/** `text` from the status line to before the empty line. */
export function readResponseHead(text: string): ResponseHead {
  if (UNACCEPTABLE.test(text)) throw new ResponseSyntaxError('ANSWER_HEADER');
  const lines = text.split('\r\n');
  const start = STATUS_LINE.exec(lines[0] ?? '');
  if (start === null) throw new ResponseSyntaxError('ANSWER_STATUS_LINE');
  const isHttp11 = start[1] === '1';
  const rawHeaders: string[] = [];
  let contentLength: number | null = null;
  let isChunked = false;
  let saysClose = false;
  let saysKeepAlive = false;
  let keepAliveMs: number | null = null;

  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const colon = line.indexOf(':');
    // A folded line begins with a space, which is no token either.
    const name = line.slice(0, Math.max(0, colon));
    if (!TOKEN.test(name)) throw new ResponseSyntaxError('ANSWER_HEADER');
    const value = trimBlanks(line, colon + 1);
    rawHeaders.push(name, value);
    switch (name.length) {
      case 10: {
        const lower = name.toLowerCase();
        if (lower === 'connection') {
          saysClose ||= hasToken(value, 'close');
          saysKeepAlive ||= hasToken(value, 'keep-alive');
        } else if (lower === 'keep-alive') {
          keepAliveMs = readTimeout(value);
        }
        break;
      }
      case 14:
        if (name.toLowerCase() === 'content-length') {
          if (contentLength !== null || !LENGTH.test(value)) throw new ResponseSyntaxError('ANSWER_CONTENT_LENGTH');
          contentLength = Number(value);
        }
        break;
      case 17:
        if (name.toLowerCase() === 'transfer-encoding') {
          if (isChunked || !isHttp11 || value.toLowerCase() !== 'chunked') {
            throw new ResponseSyntaxError('ANSWER_TRANSFER_ENCODING');
          }
          isChunked = true;
        }
        break;
    }
  }
  if (isChunked && contentLength !== null) throw new ResponseSyntaxError('ANSWER_TRANSFER_ENCODING');
  return {
    status: Number(start[2]),
    reason: start[3] ?? '',
    rawHeaders,
    contentLength,
    isChunked,
    isKeptAlive: !saysClose && (isHttp11 || saysKeepAlive),
    keepAliveMs,
  };
}

/** Without the white space around it; not `trim`, which would also take a Latin-1 no-break space. */
function trimBlanks(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start += 1;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function hasToken(list: string, token: string): boolean {
  if (list.length === token.length) return list.toLowerCase() === token;
  return list.split(',').some((part) => part.trim().toLowerCase() === token);
}

function readTimeout(value: string): number | null {
  const seconds = /(?:^|[,;\s])timeout\s*=\s*"?(\d{1,6})/i.exec(value)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
