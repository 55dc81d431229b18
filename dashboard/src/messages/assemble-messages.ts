/** The events of a streamed Anthropic message put together as the message without streaming. */
import { isNothing, isRecord, readField, readNumber, readText } from './json-reading.ts';
import { readArguments } from './parts.ts';
import { inOrder, type StreamEvent } from './stream-events.ts';

interface BlockSoFar {
  readonly start: unknown;
  text: string;
  thinking: string;
  signature: string;
  inputText: string;
  readonly citations: unknown[];
}

function addDelta(block: BlockSoFar, delta: unknown): void {
  block.text += readText(delta, 'text') ?? '';
  block.thinking += readText(delta, 'thinking') ?? '';
  block.signature += readText(delta, 'signature') ?? '';
  block.inputText += readText(delta, 'partial_json') ?? '';
  const citation = readField(delta, 'citation');
  if (citation !== undefined) block.citations.push(citation);
}

function finishBlock(block: BlockSoFar): unknown {
  const { start, text, thinking, signature, inputText, citations } = block;
  if (!isRecord(start)) return { type: 'text', text };
  return {
    ...start,
    ...(text === '' ? {} : { text: (readText(start, 'text') ?? '') + text }),
    ...(thinking === '' ? {} : { thinking: (readText(start, 'thinking') ?? '') + thinking }),
    ...(signature === '' ? {} : { signature }),
    ...(inputText === '' ? {} : { input: readArguments(inputText) }),
    ...(citations.length === 0 ? {} : { citations }),
  };
}

/** Usage comes twice: what the later one says wins, field by field. */
function merge(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return isNothing(after) ? before : after;
  return { ...before, ...Object.fromEntries(Object.entries(after).filter(([, value]) => !isNothing(value))) };
}

export function assembleMessages(events: readonly StreamEvent[]): unknown {
  const blocks = new Map<number, BlockSoFar>();
  let message: unknown = { type: 'message', role: 'assistant' };
  let usage: unknown;
  for (const { data } of events) {
    const type = readText(data, 'type');
    if (type === 'message_start') {
      message = readField(data, 'message') ?? message;
      usage = readField(message, 'usage');
    } else if (type === 'message_delta') {
      message = merge(message, readField(data, 'delta'));
      usage = merge(usage, readField(data, 'usage'));
    } else if (type === 'content_block_start' || type === 'content_block_delta') {
      const index = readNumber(data, 'index') ?? 0;
      const fresh = { text: '', thinking: '', signature: '', inputText: '', citations: [] };
      const block = blocks.get(index) ?? { start: readField(data, 'content_block'), ...fresh };
      blocks.set(index, block);
      addDelta(block, readField(data, 'delta'));
    }
  }
  return {
    ...(isRecord(message) ? message : {}),
    content: inOrder(blocks).map(finishBlock),
    ...(usage === undefined ? {} : { usage }),
  };
}
