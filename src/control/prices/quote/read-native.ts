/** Turns native usage into what a record would say, by writing an answer and reading it. */

import { type BilledUsage, readBilledUsage } from '../../../formats/usage/billed-usage.ts';
import { USAGE_FORMATS } from '../../../formats/usage/registry.ts';
import { NOTHING_REPORTED } from '../../../formats/usage/reported-usage.ts';
import { createSentPictures } from '../../../formats/usage/sent-pictures.ts';
import { createSentQueries } from '../../../formats/usage/sent-queries.ts';
import { createUsageReader } from '../../../formats/usage/usage-reader.ts';
import type { JsonObject, ReportedUsage, TokenUsage } from '../../../vocabulary/token-usage.ts';
import { ANSWER_FORMS } from './answer-forms.ts';
import { type NativeQuoteInput, type QuoteContext, QuoteError } from './quote-input.ts';
import { type QuotedEndpoint, readQuotedEndpoint } from './quoted-endpoint.ts';
import { checkUsageNumbers, listUnreadUsage } from './unread-usage.ts';

export interface NativeReading {
  readonly quoted: QuotedEndpoint;
  readonly reported: ReportedUsage;
  readonly use: BilledUsage;
  readonly unread: readonly string[];
}

const STATUS = 200;

/** Nothing is encoded, so the reader finishes at once. */
function readAnswer(quoted: QuotedEndpoint, input: NativeQuoteInput, usage: JsonObject | null): ReportedUsage {
  const { format, resultId } = quoted.endpoint;
  const { model, response, context } = input;
  const { isBatchLine } = quoted;
  const { contentType, body } = ANSWER_FORMS[format].write({ usage, model, response, context, isBatchLine });
  const reader = createUsageReader({
    format: USAGE_FORMATS[format],
    status: STATUS,
    contentType,
    contentEncoding: null,
    resultId,
    header: () => null,
  });
  reader.push(Buffer.from(body));
  let reported = NOTHING_REPORTED;
  reader.finish(true, (final) => {
    reported = final;
  });
  return reported;
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

function describeExpected({ endpoint }: QuotedEndpoint): string {
  const { usageFields, counts } = ANSWER_FORMS[endpoint.format];
  const fields = usageFields.length === 0 ? [] : [`usage with ${usageFields.join(', ')}`];
  const context = counts === null || counts === 'request' ? [] : [`context with ${counts}`];
  return [...fields, ...context].join(', or ');
}

function checkUsage(input: NativeQuoteInput, quoted: QuotedEndpoint, reported: ReportedUsage, use: BilledUsage): void {
  const { endpoint } = quoted;
  const asked = input.endpoint.trim();
  const expected = describeExpected(quoted);
  if (input.usage !== null && !hasClasses(reported.usage))
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

export function readNative(input: NativeQuoteInput): NativeReading {
  if (input.usage !== null) checkUsageNumbers(input.usage);
  const quoted = readQuotedEndpoint(input);
  const reported = readAnswer(quoted, input, input.usage);
  const use = readBilledUsage(reported, {
    fetchesResult: quoted.endpoint.fetchesResult === true,
    status: STATUS,
    isComplete: true,
    sentUsage: countSent(quoted, input.context),
  });
  checkUsage(input, quoted, reported, use);
  const unread = input.usage === null ? [] : listUnreadUsage(input.usage, (usage) => readAnswer(quoted, input, usage));
  return { quoted, reported, use, unread };
}
