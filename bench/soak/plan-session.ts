/**
 * A realtime session of OpenAI's by its number: some turns of text and sound, each with a usage of its own, as frames
 * byte for byte. Pure. Who keeps to it: serve-session.ts and session-client.ts.
 */
import { constants, deflateRawSync } from 'node:zlib';
import type { SessionPlan, SessionStep, SessionTurn } from '../kill/session-plan.ts';

const MAX_TURNS = 4;
const MAX_DELTAS = 6;
const MAX_THINK_MS = 400;
/** Sessions in which somebody thinks long, so that a kill finds some open and written down. */
const SLOW_SHARE = 0.3;
const MAX_SLOW_THINK_MS = 3_000;
const MAX_PAUSE_MS = 12;
const SOUND_BYTES = 1_200;
const DEFLATED_SHARE = 0.3;
/** What a session ends with: mostly by its client, sometimes because something has gone wrong at the provider. */
const GOODBYES = [
  { side: 'client', code: 1000 },
  { side: 'client', code: 1000 },
  { side: 'provider', code: 1000 },
  { side: 'provider', code: 1011 },
] as const;

const TEXT = 0x1;
const CONTINUATION = 0x0;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;
const FINAL = 0x80;
const COMPRESSED = 0x40;
const MASKED = 0x80;
const SHORT_PAYLOAD = 126;
/** Behind a message that is flushed; left out (RFC 7692 7.2.1). */
const DEFLATE_TAIL_BYTES = 4;

/** Pico-dollars a token of gpt-realtime, as OpenAI's price page says in dollars a million: 4, 32, 0.40, 16, 64. */
const RATES = {
  text: 4_000_000n,
  audio: 32_000_000n,
  cached: 400_000n,
  outputText: 16_000_000n,
  outputAudio: 64_000_000n,
} as const;

export const REALTIME_MODEL = 'gpt-realtime';

export function planSession(n: number, random: () => number): SessionPlan {
  const isDeflated = random() < DEFLATED_SHARE;
  const thinkMs = random() < SLOW_SHARE ? MAX_SLOW_THINK_MS : MAX_THINK_MS;
  const goodbye = pick(GOODBYES, random);
  const turnCount = 1 + Math.floor(random() * MAX_TURNS);
  const fromClient: SessionStep[] = [];
  const fromProvider: SessionStep[] = [];
  const turns: SessionTurn[] = [];
  let clientBytes = 0;
  let providerBytes = 0;
  const mask = Buffer.alloc(4);
  mask.writeUInt32BE((n * 2_654_435_761) % 0x1_0000_0000);

  const say = (bytes: Buffer, pauseMs = 0) => {
    fromClient.push({ behindBytes: providerBytes, pauseMs, bytes });
    clientBytes += bytes.length;
  };
  const answer = (...pieces: Buffer[]) => {
    for (const bytes of pieces) {
      fromProvider.push({ behindBytes: clientBytes, pauseMs: Math.round(random() * MAX_PAUSE_MS), bytes });
      providerBytes += bytes.length;
    }
  };
  const ask = (message: unknown) => writeFrame(TEXT, toPayload(message, isDeflated), { mask, isDeflated });
  const tell = (message: unknown) => writeFrame(TEXT, toPayload(message, isDeflated), { isDeflated });

  answer(tell({ type: 'session.created', session: { type: 'realtime', id: `sess_${n}`, model: REALTIME_MODEL } }));
  for (let index = 0; index < turnCount; index += 1) {
    const { usage, ...counts } = countTurn(n, index);
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: `${index} of ${n} — go on` }] };
    const question = [ask({ type: 'conversation.item.create', item }), ask({ type: 'response.create' })];
    say(Buffer.concat(question), Math.round(random() * thinkMs));
    const response = { id: `resp_${n}_${index}`, object: 'realtime.response' };
    answer(tell({ type: 'response.created', response: { ...response, status: 'in_progress' } }));
    const deltas = 1 + Math.floor(random() * MAX_DELTAS);
    for (let part = 0; part < deltas; part += 1) answer(tell(describeDelta(n, part, random)));
    const done = tell({ type: 'response.done', response: { ...response, status: 'completed', usage } });
    // In the middle of a message there may be a ping, but not of a frame; both are cut where a network would.
    const last = isDeflated ? [done] : splitMessage(done, writeFrame(PING, Buffer.from([index])));
    answer(...last.flatMap((bytes) => splitAt(bytes, Math.floor(random() * bytes.length))));
    turns.push({ ...counts, toldAtBytes: providerBytes });
    if (last.length > 1) say(writeFrame(PONG, Buffer.from([index]), { mask }));
  }
  const code = Buffer.alloc(2);
  code.writeUInt16BE(goodbye.code);
  if (goodbye.side === 'client') {
    say(writeFrame(CLOSE, code, { mask }));
    answer(writeFrame(CLOSE, code));
  } else {
    answer(writeFrame(CLOSE, code));
    say(writeFrame(CLOSE, code, { mask }));
  }
  return {
    extensions: isDeflated ? 'permessage-deflate; server_no_context_takeover; client_no_context_takeover' : null,
    fromClient,
    fromProvider,
    turns,
    goodbye,
    clientBytes: Buffer.concat(fromClient.map(({ bytes }) => bytes)),
    providerBytes: Buffer.concat(fromProvider.map(({ bytes }) => bytes)),
  };
}

/** Other numbers for every turn, none of them zero, so that every sum of turns is told from every other. */
function countTurn(n: number, index: number): Omit<SessionTurn, 'toldAtBytes'> & { readonly usage: unknown } {
  const text = 5 + ((n + 31 * index) % 97);
  const audio = 10 + ((n + 17 * index) % 211);
  const cachedText = n % 3 === 0 ? 1 + (n % 5) : 0;
  const cachedAudio = n % 3 === 0 ? 1 + (n % 7) : 0;
  const outputText = 2 + ((n + 7 * index) % 53);
  const outputAudio = 3 + ((n + 13 * index) % 149);
  const input = text + audio + cachedText + cachedAudio;
  return {
    inputTokens: text,
    cacheReadTokens: cachedText + cachedAudio,
    outputTokens: outputText,
    cost:
      BigInt(text) * RATES.text +
      BigInt(audio) * RATES.audio +
      BigInt(cachedText + cachedAudio) * RATES.cached +
      BigInt(outputText) * RATES.outputText +
      BigInt(outputAudio) * RATES.outputAudio,
    usage: {
      total_tokens: input + outputText + outputAudio,
      input_tokens: input,
      output_tokens: outputText + outputAudio,
      input_token_details: {
        text_tokens: text + cachedText,
        audio_tokens: audio + cachedAudio,
        cached_tokens: cachedText + cachedAudio,
        cached_tokens_details: { text_tokens: cachedText, audio_tokens: cachedAudio },
      },
      output_token_details: { text_tokens: outputText, audio_tokens: outputAudio },
    },
  };
}

function describeDelta(n: number, part: number, random: () => number): unknown {
  if (part % 2 === 0) return { type: 'response.output_text.delta', delta: `${part} of ${n} ✨` };
  const sound = Buffer.from(Array.from({ length: SOUND_BYTES }, () => Math.floor(random() * 256)));
  return { type: 'response.output_audio.delta', delta: sound.toString('base64') };
}

function toPayload(message: unknown, isDeflated: boolean): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  return isDeflated
    ? deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -DEFLATE_TAIL_BYTES)
    : text;
}

interface FrameOptions {
  readonly mask?: Buffer;
  readonly isDeflated?: boolean;
  readonly isPart?: boolean;
}

/** RFC 6455 5.2; no payload of a plan needs a length of 64 bits. */
function writeFrame(opcode: number, payload: Buffer, options: FrameOptions = {}): Buffer {
  const { mask, isDeflated = false, isPart = false } = options;
  const first = (isPart ? 0 : FINAL) | (isDeflated ? COMPRESSED : 0) | opcode;
  const size =
    payload.length < SHORT_PAYLOAD ? [payload.length] : [SHORT_PAYLOAD, payload.length >> 8, payload.length & 0xff];
  const head = Buffer.from([first, ...size]);
  if (mask === undefined) return Buffer.concat([head, payload]);
  head[1] = (head[1] ?? 0) | MASKED;
  return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ (mask[index % mask.length] ?? 0))]);
}

/** The message of a frame once more, as two frames with another one between them. */
function splitMessage(frame: Buffer, between: Buffer): Buffer[] {
  const payload = frame.subarray(frame[1] === SHORT_PAYLOAD ? 4 : 2);
  const half = Math.floor(payload.length / 2);
  return [
    writeFrame(TEXT, payload.subarray(0, half), { isPart: true }),
    between,
    writeFrame(CONTINUATION, payload.subarray(half)),
  ];
}

function splitAt(bytes: Buffer, at: number): Buffer[] {
  return [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0);
}

function pick<T>(list: readonly [T, ...T[]], random: () => number): T {
  return list[Math.floor(random() * list.length)] ?? list[0];
}
