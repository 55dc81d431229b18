/** Reads an answer's head and trailers strictly (RFC 9112): ambiguity is refused. Text stays Latin-1 as received. */
import { isToken } from '../../formats/wire/header-token.ts';

export type ResponseFault =
  | 'ANSWER_STATUS_LINE'
  | 'ANSWER_HEADER'
  | 'ANSWER_HEADERS_TOO_LARGE'
  | 'ANSWER_CONTENT_LENGTH'
  | 'ANSWER_TRANSFER_ENCODING'
  | 'ANSWER_CHUNK'
  | 'ANSWER_SWITCHES_PROTOCOL';

/** The answer is not acceptable HTTP. Contains nothing of the answer. */
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
  readonly rawHeaders: string[];
  readonly contentLength: number | null;
  readonly isChunked: boolean;
  /** By version and `Connection`; the body's framing may still rule it out. */
  readonly isKeptAlive: boolean;
  /** From `Keep-Alive: timeout=…`. */
  readonly keepAliveMs: number | null;
}

/** Control characters; Node's server would refuse to write them too. */
const NOT_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: (.*))?$/;
/** 15 digits stay exact in a double. */
const LENGTH = /^\d{1,15}$/;

const LINE_END = '\r\n';
const SPACE = 0x20;
const TAB = 0x09;

/** `text` ends before the empty line. Throws ResponseSyntaxError. */
export function readResponseHead(text: string): ResponseHead {
  let lineEnd = endOfLine(text, 0);
  const statusLine = text.slice(0, lineEnd);
  if (NOT_VALUE.test(statusLine)) throw new ResponseSyntaxError('ANSWER_HEADER');
  const start = STATUS_LINE.exec(statusLine);
  if (start === null) throw new ResponseSyntaxError('ANSWER_STATUS_LINE');
  const isHttp11 = start[1] === '1';
  const rawHeaders: string[] = [];
  let contentLength: number | null = null;
  let isChunked = false;
  let saysClose = false;
  let saysKeepAlive = false;
  let keepAliveMs: number | null = null;

  while (lineEnd < text.length) {
    const lineStart = lineEnd + LINE_END.length;
    lineEnd = endOfLine(text, lineStart);
    const colon = text.indexOf(':', lineStart);
    const name = readName(text, lineStart, colon);
    const value = readValue(text, colon, lineEnd);
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

/** `text` ends before the empty line. Flat, not filtered. Throws ResponseSyntaxError. */
export function readTrailers(text: string): string[] {
  const rawTrailers: string[] = [];
  let lineStart = 0;
  while (lineStart < text.length) {
    const lineEnd = endOfLine(text, lineStart);
    const colon = text.indexOf(':', lineStart);
    rawTrailers.push(readName(text, lineStart, colon), readValue(text, colon, lineEnd));
    lineStart = lineEnd + LINE_END.length;
  }
  return rawTrailers;
}

/** Folded lines and lines without a colon fail, since they yield no token. */
function readName(text: string, lineStart: number, colon: number): string {
  const name = text.slice(lineStart, Math.max(lineStart, colon));
  if (!isToken(name)) throw new ResponseSyntaxError('ANSWER_HEADER');
  return name;
}

function readValue(text: string, colon: number, lineEnd: number): string {
  const value = sliceTrimmed(text, colon + 1, lineEnd);
  if (NOT_VALUE.test(value)) throw new ResponseSyntaxError('ANSWER_HEADER');
  return value;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf(LINE_END, from);
  return end === -1 ? text.length : end;
}

/** `trim` would also remove a Latin-1 no-break space. */
function sliceTrimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
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
