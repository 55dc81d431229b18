/** The events of ConverseStream put together as the answer of Converse. */
import { isRecord, readField, readNumber, readText } from './json-reading.ts';
import { readArguments } from './parts.ts';
import { inOrder, type StreamEvent } from './stream-events.ts';

interface BlockSoFar {
  toolUse: unknown;
  text: string | null;
  reasoning: string | null;
  signature: string | null;
  inputText: string;
}

function addDelta(block: BlockSoFar, delta: unknown): void {
  const text = readText(delta, 'text');
  if (text !== null) block.text = (block.text ?? '') + text;
  block.inputText += readText(readField(delta, 'toolUse'), 'input') ?? '';
  const reasoning = readField(delta, 'reasoningContent');
  const thought = readText(reasoning, 'text');
  if (thought !== null) block.reasoning = (block.reasoning ?? '') + thought;
  block.signature = readText(reasoning, 'signature') ?? block.signature;
}

function finishBlock({ toolUse, text, reasoning, signature, inputText }: BlockSoFar): unknown {
  if (isRecord(toolUse)) return { toolUse: { ...toolUse, input: inputText === '' ? {} : readArguments(inputText) } };
  if (reasoning !== null)
    return { reasoningContent: { reasoningText: { text: reasoning, ...(signature === null ? {} : { signature }) } } };
  return { text: text ?? '' };
}

export function assembleConverse(events: readonly StreamEvent[]): unknown {
  const blocks = new Map<number, BlockSoFar>();
  let role = 'assistant';
  let stopReason: string | null = null;
  let metadata: unknown;
  for (const { name, data } of events) {
    role = (name === 'messageStart' ? readText(data, 'role') : null) ?? role;
    stopReason = readText(data, 'stopReason') ?? stopReason;
    if (name === 'metadata') metadata = data;
    const index = readNumber(data, 'contentBlockIndex');
    if (index === null) continue;
    const fresh = { toolUse: null, text: null, reasoning: null, signature: null, inputText: '' };
    const block: BlockSoFar = blocks.get(index) ?? fresh;
    blocks.set(index, block);
    block.toolUse = readField(readField(data, 'start'), 'toolUse') ?? block.toolUse;
    addDelta(block, readField(data, 'delta'));
  }
  return {
    output: { message: { role, content: inOrder(blocks).map(finishBlock) } },
    stopReason,
    ...(isRecord(metadata) ? metadata : {}),
  };
}
