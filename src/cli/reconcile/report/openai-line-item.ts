/**
 * Parses OpenAI's line items: `gpt-4o-2024-08-06, input`, `priority | gpt-5.4, cached input, long context`,
 * `gpt-image-1 image, output`, `web search tool calls`. The forms are undocumented and taken from published answers
 * (read 2026-11-28); any other form is no model.
 */
import type { Subject } from './provider-report.ts';

const TIER = /^(?:priority|flex|batch|scale|default|standard) \| /i;
const MODEL_ITEM =
  /^(.+?)(?: (?:text|audio|image))?, (?:cached |audio |image |text )*(?:input|output|cache writes?)(?:, .+)?$/i;

export function readLineItem(lineItem: string): Subject {
  const name = MODEL_ITEM.exec(lineItem.replace(TIER, ''))?.[1];
  return name === undefined || /\s/.test(name) ? { type: 'item', name: lineItem } : { type: 'model', name };
}
