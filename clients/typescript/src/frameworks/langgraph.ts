/**
 * LangGraph.js and LangChain.js: nodes and agents from the configuration that each runnable has at hand, in a storage that
 * the framework itself keeps under a global symbol.
 */
import { NOWHERE, type Position } from './position.ts';
import { callField, field, text } from './unknown-field.ts';

const STORAGE = Symbol.for('ls:tracing_async_local_storage');
const CONFIG = Symbol.for('lc:child_config');

export function readLanggraph(): Position {
  const storage = field(globalThis, STORAGE);
  if (storage === undefined) return NOWHERE;
  const config = field(field(callField(storage, 'getStore'), 'extra'), CONFIG);
  const metadata = field(config, 'metadata');
  const namespace = text(field(metadata, 'langgraph_checkpoint_ns')) ?? '';
  // `ask:UUID|model:UUID`: a node, and a node of the graph inside.
  const names = namespace
    .split('|')
    .map((part) => part.replace(/:[^:]*$/, ''))
    .filter((name) => !/^\d*$/.test(name));
  const agent = text(field(metadata, 'lc_agent_name'));
  if (agent !== null) names.splice(Math.max(names.length - 1, 0), 0, agent);
  const thread = field(metadata, 'thread_id') ?? field(field(config, 'configurable'), 'thread_id');
  return { runId: text(thread), names };
}
