/**
 * OpenTelemetry: agents and tools from the spans that a framework opens, by the names of its conventions for generative AI.
 * Its API keeps the context manager of the program under a global symbol; a span does not know the one around it, so that is
 * remembered where a span becomes the current one. Nothing is set up and nothing is exported.
 */
import { MAX_DEPTH, NOWHERE, type Position } from './position.ts';
import { callField, field, text } from './unknown-field.ts';

const API = Symbol.for('opentelemetry.js.api.1');
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

const parents = new WeakMap<object, object>();
const watched = new WeakSet<object>();

export function readOpentelemetry(): Position {
  const manager = field(field(globalThis, API), 'context');
  if (typeof manager !== 'object' || manager === null) return NOWHERE;
  watch(manager);
  const names: string[] = [];
  let span = readSpan(callField(manager, 'active'));
  const runId = text(field(callField(span, 'spanContext'), 'traceId'));
  for (let depth = 0; span !== null && depth < MAX_DEPTH; depth += 1) {
    const name = readStepName(span);
    // Some frameworks open two spans for one agent.
    if (name !== null && names[0] !== name) names.unshift(name);
    span = parents.get(span) ?? null;
  }
  return names.length === 0 ? NOWHERE : { runId, names };
}

function watch(manager: object): void {
  const original = field(manager, 'with');
  if (watched.has(manager) || typeof original !== 'function') return;
  watched.add(manager);
  const watching = (context: unknown, ...rest: unknown[]): unknown => {
    const inner = readSpan(context);
    const outer = readSpan(callField(manager, 'active'));
    if (inner !== null && outer !== null && inner !== outer && !parents.has(inner)) parents.set(inner, outer);
    return original.call(manager, context, ...rest);
  };
  Object.defineProperty(manager, 'with', { value: watching, writable: true, configurable: true });
}

function readSpan(context: unknown): object | null {
  const span = callField(context, 'getValue', SPAN);
  return typeof span === 'object' ? span : null;
}

function readStepName(span: object): string | null {
  const attributes = field(span, 'attributes');
  const kind = field(attributes, 'openinference.span.kind');
  if (kind === 'AGENT' || kind === 'TOOL') return text(field(span, 'name'));
  const operation = field(attributes, 'gen_ai.operation.name');
  const tool = text(field(attributes, 'gen_ai.tool.name') ?? field(attributes, 'ai.toolCall.name'));
  if (tool !== null) return tool;
  // Set by who calls the AI SDK, as the name of what is done.
  const done = text(field(attributes, 'ai.telemetry.functionId'));
  if (done !== null) return done;
  return operation === undefined || operation === 'invoke_agent' ? text(field(attributes, 'gen_ai.agent.name')) : null;
}
