/** Texts of calls as rows of `llm_texts`. */
import { setImmediate } from 'node:timers/promises';
import { type CallTexts, readCallTexts } from '../../formats/texts/call-texts.ts';
import { binaryInt4, binaryTime, binaryUuid, encodeCopyBinary } from '../store/copy-binary.ts';
import { storableText } from '../store/copy-text.ts';
import { type KeptBody, readPlainBody } from './plain-body.ts';

/** How long texts are read without a pause, in which the process serves its API. */
const WORK_MS = 10;

export const COPY_TEXTS = `copy llm_texts (id, requested_at, account_id, prompt, answer, prompt_snippet, answer_snippet)
  from stdin with (format binary)`;

export interface CallBodies {
  readonly id: string;
  readonly requestedAt: Date;
  readonly accountId: number;
  readonly request: KeptBody | null;
  readonly response: KeptBody | null;
}

export interface TextRow extends CallTexts {
  readonly id: string;
  readonly requestedAt: Date;
  readonly accountId: number;
}

export interface ReadTexts {
  readonly rows: readonly TextRow[];
  /** Ids of calls whose bodies made the reader fail: a defect, and no reason to lose a record. */
  readonly failed: readonly string[];
}

/** A call without a body, or without any text in them, has no row. The texts can be stored. */
export async function readTextRows(calls: readonly CallBodies[]): Promise<ReadTexts> {
  const rows: TextRow[] = [];
  const failed: string[] = [];
  let pausedMs = performance.now();
  for (const call of calls) {
    if (call.request === null && call.response === null) continue;
    try {
      const row = await readTextRow(call);
      if (row.prompt !== '' || row.answer !== '') rows.push(row);
    } catch {
      // The error may quote the body.
      failed.push(call.id);
    }
    if (performance.now() - pausedMs < WORK_MS) continue;
    await setImmediate();
    pausedMs = performance.now();
  }
  return { rows, failed };
}

async function readTextRow({ id, requestedAt, accountId, request, response }: CallBodies): Promise<TextRow> {
  const texts = readCallTexts(
    request === null ? null : await readPlainBody(request),
    response === null ? null : await readPlainBody(response),
  );
  return {
    id,
    requestedAt,
    accountId,
    prompt: storableText(texts.prompt),
    answer: storableText(texts.answer),
    promptSnippet: storableText(texts.promptSnippet),
    answerSnippet: storableText(texts.answerSnippet),
    marks: texts.marks,
  };
}

export function encodeTextRows(rows: readonly TextRow[]): Buffer {
  return encodeCopyBinary(
    rows.map((row) => [
      binaryUuid(row.id),
      binaryTime(row.requestedAt.getTime()),
      binaryInt4(row.accountId),
      Buffer.from(row.prompt),
      Buffer.from(row.answer),
      Buffer.from(row.promptSnippet),
      Buffer.from(row.answerSnippet),
    ]),
  );
}
