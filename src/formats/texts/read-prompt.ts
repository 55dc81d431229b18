/** What was said to a model in a request of any API, for search: messages, tool calls and results, and no tools. */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { isObject } from '../usage/read-json.ts';
import { makeSnippet } from './make-snippet.ts';
import { plainText } from './plain-text.ts';
import { walkPrompt } from './walk-prompt.ts';

/** Members with texts, and whose they are where no message says. */
const SPEAKERS: Readonly<Record<string, 'system' | 'user' | 'other'>> = {
  system: 'system',
  instructions: 'system',
  systemInstruction: 'system',
  system_instruction: 'system',
  preamble: 'system',
  chat_history: 'user',
  messages: 'user',
  contents: 'user',
  content: 'user',
  input: 'user',
  prompt: 'user',
  text: 'user',
  texts: 'user',
  inputText: 'user',
  message: 'user',
  query: 'user',
  item: 'user',
  turns: 'user',
  suffix: 'other',
  documents: 'other',
  questions: 'other',
  functionResponses: 'other',
};
/** They hold a request, or several. */
const ENVELOPES: ReadonlySet<string> = new Set([
  'requests',
  'request',
  'params',
  'batch',
  'input_config',
  'inputConfig',
  'instances',
  'textToImageParams',
  'generateContentRequest',
  'converse',
  'response',
  'session',
  'setup',
  'clientContent',
  'realtimeInput',
  'toolResponse',
]);
const ANSWERING: readonly string[] = ['assistant', 'model', 'chatbot'];
const MAX_DEPTH = 6;

export interface PromptReader {
  readonly read: (body: JsonObject) => void;
  /** Messages without the rest of their request. */
  readonly readMessages: (messages: JsonValue) => void;
  readonly texts: readonly string[];
  /** How many of the texts there are up to the last one that a model wrote; 0 where it wrote none of them. */
  readonly answeredTexts: () => number;
  /** Of the last message of the user, else of the last text that is neither the system's nor a tool's. */
  readonly snippet: () => string;
}

export function createPromptReader(): PromptReader {
  const texts: string[] = [];
  // Mutable: who is speaking, whether the message has said nothing yet, and what was said last.
  let role: string | null = null;
  let isNew = true;
  let lastOfUser: string[] = [];
  let lastOther = '';
  let answeredTexts = 0;

  function begin(next: string | null): void {
    role = next === null ? null : next.toLowerCase();
    isNew = true;
  }

  function add(text: string, isResult: boolean): void {
    const plain = plainText(text);
    if (plain.trim() === '') return;
    texts.push(plain);
    // Items of Responses without a role are calls of tools, or their results.
    if (!isResult && (role === null || ANSWERING.includes(role))) answeredTexts = texts.length;
    // A message with nothing but results is none of the user's.
    if (isResult || role === 'tool' || role === 'function') return;
    if (role === 'user' || role === 'human') {
      if (isNew) lastOfUser = [];
      lastOfUser.push(plain);
      isNew = false;
    } else if (role !== 'system' && role !== 'developer') lastOther = plain;
  }

  function readMessages(messages: JsonValue, speaker: string): void {
    begin(speaker);
    walkPrompt(messages, speaker === 'user' ? { onText: add, onMessage: begin } : { onText: add });
  }

  function read(body: JsonObject, depth: number): void {
    if (depth > MAX_DEPTH) return;
    const members = Object.entries(body);
    // Models read it first, wherever it stands.
    for (const [name, value] of members) if (SPEAKERS[name] === 'system') readMessages(value, 'system');
    for (const [name, value] of members) {
      const speaker = Object.hasOwn(SPEAKERS, name) ? SPEAKERS[name] : undefined;
      if (isEnvelope(name, value)) {
        for (const inner of Array.isArray(value) ? value : [value]) if (isObject(inner)) read(inner, depth + 1);
      } else if (speaker !== undefined && speaker !== 'system' && (name !== 'text' || typeof value === 'string'))
        readMessages(value, speaker);
    }
  }

  return {
    read: (body) => read(body, 0),
    readMessages: (messages) => readMessages(messages, 'user'),
    texts,
    answeredTexts: () => answeredTexts,
    snippet: () => makeSnippet(lastOfUser.length > 0 ? lastOfUser : [lastOther]),
  };
}

/** `input` is one where Bedrock counts the tokens of a request, else messages. */
function isEnvelope(name: string, value: JsonValue): boolean {
  return ENVELOPES.has(name) || (name === 'input' && isObject(value));
}
