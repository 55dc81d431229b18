/** Collects the text that a model wrote from an answer of any API, however far it came. */
import { readValues } from '../../../formats/texts/read-values.ts';
import { type AnswerSink, unwrapEvent, walkAnswer } from '../../../formats/texts/walk-answer.ts';
import { readObject } from '../../../formats/usage/read-json.ts';
import type { JsonObject } from '../../../vocabulary/token-usage.ts';
import type { NotCounted } from './not-counted.ts';
import { type CollectedText, createTextCollector } from './text-collector.ts';

export interface AnswerText {
  readonly all: CollectedText;
  /** Text after the last token report; null when there was none. */
  readonly sinceReport: CollectedText | null;
  /** False: one JSON body without any text. */
  readonly hasBegun: boolean;
  readonly notCounted: readonly NotCounted[];
}

/** Null when the body is of another kind or unreadable. */
export function readAnswerText(body: Buffer, contentType: string | null): AnswerText | null {
  const collector = createTextCollector();
  const notCounted = new Set<NotCounted>();
  const seen = { events: 0, isStream: false };

  const sink: AnswerSink = { onWritten: collector.add, onLeftOut: (what) => notCounted.add(what) };
  const isRead = readValues(body, contentType, (value, isStream) => {
    seen.events += 1;
    seen.isStream ||= isStream;
    const event = unwrapEvent(value);
    walkAnswer(event, sink);
    if (reportsOutput(event)) collector.mark();
  });
  if (!isRead) return null;
  if (seen.events === 0) return null;
  const all = collector.all();
  return {
    all,
    sinceReport: collector.sinceMark(),
    hasBegun: seen.isStream || all.texts.length > 0 || all.overBytes > 0,
    notCounted: [...notCounted],
  };
}

const OUTPUT_COUNTS: readonly string[] = [
  'completion_tokens',
  'output_tokens',
  'candidatesTokenCount',
  'outputTokens',
  'total_output_tokens',
  'generation_token_count',
  'totalOutputTextTokenCount',
  'outputTokenCount',
];

/** The count at the start of Anthropic's stream is a placeholder. */
function reportsOutput(event: JsonObject): boolean {
  const holders = [
    event,
    readObject(event, 'usage'),
    readObject(event, 'usageMetadata'),
    readObject(readObject(event, 'response'), 'usage'),
    readObject(readObject(event, 'interaction'), 'usage'),
    readObject(readObject(event, 'metadata'), 'usage'),
    readObject(event, 'amazon-bedrock-invocationMetrics'),
  ];
  return holders.some((holder) => holder !== null && OUTPUT_COUNTS.some((name) => typeof holder[name] === 'number'));
}
