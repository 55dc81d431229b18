/** Asks the questions over HTTP, as the dashboard does, and takes the time until the last byte of the answer. */
import { createHash } from 'node:crypto';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { createSeededRandom } from '../../src/control/demo-log/seeded-random.ts';
import { readAdminFile } from '../../test/gateway/start-gateway.ts';
import type { Question, Sample } from './questions.ts';
import type { Stage } from './stage.ts';

const WARM_ASKS = 10;
const STREAM_HEAD_BYTES = 64 * 1024;

export interface Measured {
  readonly group: string;
  readonly name: string;
  readonly coldMs: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly asks: number;
  /** How an answer failed; null when none did. */
  readonly error: string | null;
  /** How far back the last bounded answer reached; null when all were whole. */
  readonly searchedTo: string | null;
  /** The path of the slowest answer. */
  readonly path: string;
}

interface Answer {
  readonly ms: number;
  readonly error: string | null;
  readonly searchedTo: string | null;
  readonly nextCursor: string | null;
}

export interface MeasureOptions {
  readonly limitMs: number;
  /** A slow question is asked fewer times. */
  readonly budgetMs: number;
  /** Without it no question is asked of a database that has just started. */
  readonly isCold: boolean;
}

const Page = z.object({ searched_to: z.string().nullish(), next_cursor: z.string().nullish() });

export async function measureQuestion(
  stage: Stage,
  question: Question,
  samples: readonly Sample[],
  { limitMs, budgetMs, isCold }: MeasureOptions,
): Promise<Measured> {
  const agent = new Agent({ headersTimeout: limitMs, bodyTimeout: limitMs });
  const { token } = readAdminFile(stage.gateway.dataDir);

  async function ask(path: string): Promise<Answer> {
    const startedMs = performance.now();
    const passed = () => performance.now() - startedMs;
    try {
      const { statusCode, body } = await request(`${stage.gateway.adminBase}${path}`, {
        dispatcher: agent,
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(limitMs),
      });
      const pieces: Buffer[] = [];
      let bytes = 0;
      for await (const piece of body) {
        pieces.push(piece);
        bytes += piece.length;
        if (question.isStream === true && bytes >= STREAM_HEAD_BYTES) break;
      }
      const ms = passed();
      const text = Buffer.concat(pieces).toString();
      if (statusCode !== 200) return { ...NO_ANSWER, ms, error: `${statusCode} ${text.slice(0, 120)}` };
      if (question.isStream === true) return { ...NO_ANSWER, ms };
      const { searched_to: searchedTo = null, next_cursor: nextCursor = null } = Page.parse(JSON.parse(text));
      return { ms, error: null, searchedTo, nextCursor };
    } catch (error) {
      return { ...NO_ANSWER, ms: passed(), error: passed() >= limitMs ? `over ${limitMs / 1_000} s` : String(error) };
    }
  }

  async function turnPages(path: string): Promise<string> {
    let at = path;
    for (let page = 0; page < (question.pagesBefore ?? 0); page += 1) {
      const { nextCursor } = await ask(at);
      if (nextCursor === null) break;
      at = `${path}&cursor=${encodeURIComponent(nextCursor)}`;
    }
    return at;
  }

  function pathOf(ordinal: number): string {
    const sample = samples[ordinal % samples.length];
    if (sample === undefined) throw new Error('there are no calls to ask about');
    const seed = createHash('sha256').update(`${question.group} ${question.name} ${ordinal}`).digest().readUInt32BE(0);
    return question.path({ random: createSeededRandom(seed), sample, untilMs: stage.untilMs });
  }

  const paths: string[] = [];
  for (let ordinal = 0; ordinal <= WARM_ASKS; ordinal += 1)
    paths.push(ordinal > 0 && question.pagesBefore !== undefined ? (paths[0] ?? '') : await turnPages(pathOf(ordinal)));
  const [coldPath = '', ...warmPaths] = paths;
  const answers: (Answer & { readonly path: string })[] = [];
  if (isCold) await stage.restartDatabase();
  const startedMs = performance.now();
  const first = await ask(coldPath);
  answers.push({ ...first, path: coldPath });
  const warm: number[] = [];
  for (const path of warmPaths) {
    if (performance.now() - startedMs > budgetMs) break;
    const answer = await ask(path);
    answers.push({ ...answer, path });
    if (answer.error === null) warm.push(answer.ms);
  }
  // One that takes the whole budget is asked once.
  if (answers.length === 1 && first.error === null && !isCold) warm.push(first.ms);
  await agent.destroy();
  const slowest = answers.toSorted((a, b) => b.ms - a.ms)[0];
  return {
    group: question.group,
    name: question.name,
    coldMs: isCold && first.error === null ? first.ms : null,
    p50Ms: quantile(warm, 0.5),
    p95Ms: quantile(warm, 0.95),
    asks: warm.length,
    error: answers.find(({ error }) => error !== null)?.error ?? null,
    searchedTo: answers.findLast(({ searchedTo }) => searchedTo !== null)?.searchedTo ?? null,
    path: slowest?.path ?? coldPath,
  };
}

const NO_ANSWER = { error: null, searchedTo: null, nextCursor: null } as const;

/** By nearest rank: of ten values the p95 is the slowest. */
function quantile(values: readonly number[], share: number): number | null {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? null;
}

/** Calls at moments that are spread over the log. */
export async function drawSamples(stage: Stage): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (let part = 1; part <= WARM_ASKS + 1; part += 1) {
    const atMs = stage.fromMs + ((stage.untilMs - stage.fromMs) * part) / (WARM_ASKS + 2);
    const { rows } = await stage.pool.query<{ id: string; trace_id: string | null; tag: string | null }>(
      `select id, trace_id, raw_metadata->>'Request-Tag' as tag from llm_requests
       where account_id = 1 and requested_at between $1::timestamptz - interval '1 day' and $1
       order by requested_at desc, id desc limit 300`,
      [new Date(atMs)],
    );
    const inRun = rows.find(({ trace_id }) => trace_id !== null);
    const tagged = rows.find(({ tag }) => tag !== null);
    if (inRun?.trace_id == null || tagged?.tag == null) throw new Error('no calls to ask about');
    samples.push({ id: inRun.id, traceId: inRun.trace_id, requestTag: tagged.tag });
  }
  return samples;
}
