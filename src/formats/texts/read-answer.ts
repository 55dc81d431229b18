/** What was answered, for search: text, thoughts, tool calls and what the provider's own tools found. */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { listInlinedAnswers, readBatchOutput } from '../usage/gemini-batch-output.ts';
import { readName, readObject } from '../usage/read-json.ts';
import { makeSnippet } from './make-snippet.ts';
import { plainText } from './plain-text.ts';
import { type AnswerSink, unwrapEvent, type WrittenKind, walkAnswer } from './walk-answer.ts';
import { walkPrompt } from './walk-prompt.ts';

/** Pieces of further texts share one. */
const MAX_CHANNELS = 1_000;
const REST = 'rest';
/** A name and its arguments. */
const SNIPPET_CALL_TEXTS = 2;

export interface AnswerReader {
  /** A whole answer, or the next event of a stream. */
  readonly read: (value: JsonObject) => void;
  /** Text of an answer that is nothing but text. */
  readonly readText: (text: string) => void;
  /** Pieces from here on do not follow those before. */
  readonly noteGap: () => void;
  readonly texts: () => readonly string[];
  /** Names and arguments of the tools that were called. */
  readonly toolCalls: () => readonly string[];
  /** What the model said; else what it called, what it thought, or what was found for it. */
  readonly snippet: () => string;
}

interface Channel {
  readonly kind: WrittenKind;
  readonly parts: string[];
}

export function createAnswerReader(): AnswerReader {
  const channels = new Map<string, Channel>();
  // Mutable: answers of one session, and parts of one answer that was cut, are told apart by a number.
  let turn = 0;
  let results = 0;
  let calls = 0;

  function add(channel: string, text: string, kind: WrittenKind): void {
    if (text === '') return;
    const key = channels.has(channel) || channels.size < MAX_CHANNELS ? channel : REST;
    const found = channels.get(key);
    if (found === undefined) channels.set(key, { kind, parts: [text] });
    else found.parts.push(text);
  }

  function addResult(value: JsonValue): void {
    walkPrompt(value, {
      onText: (text) => {
        results += 1;
        add(`result ${results}`, text, 'tool_result');
      },
    });
  }

  const sink: AnswerSink = {
    onWritten: add,
    numberCall: (isNew) => {
      if (isNew) calls += 1;
      return calls;
    },
    onResult: (_channel, result) => addResult(result),
    onTranscript: (channel, text) => add(channel, text, 'answer'),
  };

  function read(value: JsonObject): void {
    if (isNextTurn(value)) turn += 1;
    const id = readName(value, 'custom_id') ?? readName(value, 'key');
    const root = id === null ? String(turn) : `${turn} ${id}`;
    for (const [position, answer] of listAnswers(unwrapEvent(value)).entries()) {
      // What a search or a ranking found.
      const { results: found } = answer;
      if (Array.isArray(found)) addResult(found);
      else walkAnswer(answer, sink, position === 0 ? root : `${root}/${position}`);
    }
  }

  function listOf(kind: WrittenKind): readonly string[] {
    return [...channels.values()]
      .filter((channel) => channel.kind === kind)
      .map(({ parts }) => plainText(parts.join('')));
  }

  return {
    read,
    readText: (text) => add('text', text, 'answer'),
    noteGap: () => {
      turn += 1;
    },
    texts: () =>
      [...channels.values()].map(({ parts }) => plainText(parts.join(''))).filter((text) => text.trim() !== ''),
    toolCalls: () => listOf('tool_call'),
    snippet: () =>
      makeSnippet(listOf('answer')) ||
      makeSnippet(listOf('tool_call').slice(0, SNIPPET_CALL_TEXTS)) ||
      makeSnippet(listOf('reasoning')) ||
      makeSnippet(listOf('tool_result')),
  };
}

/** The begin of a further answer in a session of Responses, the end of one in a live session of Gemini. */
function isNextTurn(value: JsonObject): boolean {
  return value['type'] === 'response.created' || readObject(value, 'serverContent')?.['turnComplete'] === true;
}

/** A line or element of a batch has its answer inside; a batch of Gemini has all of them. */
function listAnswers(value: JsonObject): readonly JsonObject[] {
  if (readName(value, 'type') !== null) return [value];
  const output = readBatchOutput(value);
  if (output !== null) return listInlinedAnswers(output);
  const response = readObject(value, 'response');
  return response === null ? [value] : [readObject(response, 'body') ?? response];
}
