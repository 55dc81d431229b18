/** A native usage to what a record of such a call would say of it: written as the answer, read by the usage reader. */
import { EMPTY_READING } from '../shapes/reading.ts';
import { SHAPES } from '../shapes/registry.ts';
import { type ReportedUse, readReportedUse } from '../shapes/reported-use.ts';
import { createSentPictures } from '../shapes/sent-pictures.ts';
import { createSentQueries } from '../shapes/sent-queries.ts';
import { createUsageReader } from '../shapes/usage-reader.ts';
import type { JsonObject, TokenUsage, UsageReading } from '../token-usage.ts';
import { ANSWER_FORMS } from './answer-forms.ts';
import { type NativeQuoteInput, type QuoteContext, QuoteError } from './quote-input.ts';
import { type QuotedEndpoint, readQuotedEndpoint } from './quoted-endpoint.ts';
import { checkUsageNumbers, listUnreadUsage } from './unread-usage.ts';

export interface NativeReading {
  readonly quoted: QuotedEndpoint;
  readonly reading: UsageReading;
  readonly use: ReportedUse;
  /** Numbers of the usage object that have no influence, by their paths. */
  readonly unread: readonly string[];
}

const STATUS = 200;

/** Nothing is encoded, so the reader is done at once. */
function readAnswer(quoted: QuotedEndpoint, input: NativeQuoteInput, usage: JsonObject | null): UsageReading {
  const { shape, resultId } = quoted.endpoint;
  const { model, response, context } = input;
  const { isBatchLine } = quoted;
  const { contentType, body } = ANSWER_FORMS[shape].write({ usage, model, response, context, isBatchLine });
  const reader = createUsageReader({
    ...{ shape: SHAPES[shape], status: STATUS, contentType, contentEncoding: null, resultId },
    header: () => null,
  });
  reader.push(Buffer.from(body));
  // Assigned by the callback.
  let reading = EMPTY_READING;
  reader.finish(true, (final) => {
    reading = final;
  });
  return reading;
}

function countSent({ endpoint }: QuotedEndpoint, context: QuoteContext): TokenUsage | null {
  const { n, size, quality, input_characters, documents } = context;
  if (endpoint.countsRequest === 'pictures') return createSentPictures({ n, size, quality });
  if (endpoint.countsRequest === 'queries')
    return documents === undefined ? null : createSentQueries({ query: '', documents: new Array(documents).fill('') });
  if (endpoint.countsRequest === undefined || input_characters === undefined) return null;
  return { classes: { input_characters }, reasoning: null, native: { input_characters } };
}

function hasClasses(usage: TokenUsage | null): boolean {
  return usage !== null && (Object.keys(usage.classes).length > 0 || (usage.others ?? []).length > 0);
}

/** What to give, for the endpoint's answers as they are. */
function describeExpected({ endpoint }: QuotedEndpoint): string {
  const { usageFields, counts } = ANSWER_FORMS[endpoint.shape];
  const fields = usageFields.length === 0 ? [] : [`usage with ${usageFields.join(', ')}`];
  const context = counts === null || counts === 'request' ? [] : [`context with ${counts}`];
  return [...fields, ...context].join(', or ');
}

function checkUsage(input: NativeQuoteInput, quoted: QuotedEndpoint, reading: UsageReading, use: ReportedUse): void {
  const { endpoint } = quoted;
  const asked = input.endpoint.trim();
  const expected = describeExpected(quoted);
  if (input.usage !== null && !hasClasses(reading.usage))
    throw new QuoteError(
      'usage_unreadable',
      expected === ''
        ? `usage: the gateway reads none from answers of ${asked}; such calls are recorded without.`
        : `usage: nothing in it is read from answers of ${asked}. Give ${expected}.`,
    );
  const isBilled = endpoint.billed || endpoint.fetchesResult === true;
  if (input.usage === null && isBilled && use.usage === null && !use.isLater && expected !== '')
    throw new QuoteError('usage_missing', `usage: answers of ${asked} report one. Give ${expected}.`);
}

/** Throws a QuoteError. */
export function readNative(input: NativeQuoteInput): NativeReading {
  if (input.usage !== null) checkUsageNumbers(input.usage);
  const quoted = readQuotedEndpoint(input);
  const reading = readAnswer(quoted, input, input.usage);
  const use = readReportedUse(reading, {
    fetchesResult: quoted.endpoint.fetchesResult === true,
    status: STATUS,
    isComplete: true,
    sentUsage: countSent(quoted, input.context),
  });
  checkUsage(input, quoted, reading, use);
  const unread = input.usage === null ? [] : listUnreadUsage(input.usage, (usage) => readAnswer(quoted, input, usage));
  return { quoted, reading, use, unread };
}
