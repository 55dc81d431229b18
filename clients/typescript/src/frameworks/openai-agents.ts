/**
 * OpenAI Agents JS: agents and function tools from its spans, also where tracing is off, since those are opened all the same. Its
 * storage is under a global symbol; each span knows the one around it.
 */
import { MAX_DEPTH, NOWHERE, type Position } from './position.ts';
import { callField, field, text } from './unknown-field.ts';

const STORAGE = Symbol.for('openai.agents.core.asyncLocalStorage');
const KEPT: readonly unknown[] = ['agent', 'function'];
/** The id of every trace while tracing is off; an agent that is a tool then begins a trace of its own. */
const NO_ID = 'no-op';

export function readOpenaiAgents(): Position {
  const context = callField(field(globalThis, STORAGE), 'getStore');
  if (field(context, 'active') !== true) return NOWHERE;
  const names: string[] = [];
  let span = field(context, 'span');
  for (let depth = 0; span !== undefined && span !== null && depth < MAX_DEPTH; depth += 1) {
    const data = field(span, 'spanData');
    const name = text(field(data, 'name'));
    if (name !== null && KEPT.includes(field(data, 'type'))) names.unshift(name);
    span = field(span, 'previousSpan');
  }
  const traceId = text(field(field(context, 'trace'), 'traceId'));
  return names.length === 0 ? NOWHERE : { runId: traceId === NO_ID ? null : traceId, names };
}
