/** Where the frameworks of the program are, one file each. Nothing must be passed through the program. */
import { current } from '../state.ts';
import { readLanggraph } from './langgraph.ts';
import { readOpenaiAgents } from './openai-agents.ts';
import { readOpentelemetry } from './opentelemetry.ts';
import { NOWHERE, type Position } from './position.ts';

/** In the order in which they stand in one another: an agent's own library runs inside of a graph's node. */
const READERS: readonly (() => Position)[] = [readLanggraph, readOpenaiAgents, readOpentelemetry];

export function readFrameworks(): Position {
  if (current.settings === null) return NOWHERE;
  const positions = READERS.map(readSafely);
  return {
    runId: positions.find(({ runId }) => runId !== null)?.runId ?? null,
    names: positions.flatMap(({ names }) => names),
  };
}

function readSafely(read: () => Position): Position {
  try {
    return read();
  } catch {
    // A version that this one does not know: a call must not fail for its place in a tree.
    return NOWHERE;
  }
}
