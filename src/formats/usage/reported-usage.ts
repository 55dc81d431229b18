/** Builds a `ReportedUsage` step by step. Functions return a new one and never throw. */
import type {
  CallFlag,
  ClassQuantities,
  JsonObject,
  JsonValue,
  OtherUsage,
  ReportedUsage,
  ServedTerms,
  TokenUsage,
  UsageClass,
} from '../../vocabulary/token-usage.ts';
import { mergeNative } from './merge-native.ts';
import { isObject } from './read-json.ts';

/** Not frozen: `JSON.stringify` is four times slower on a record with a frozen array. */
export const NOTHING_REPORTED: ReportedUsage = {
  usage: null,
  model: null,
  serviceTier: null,
  speed: null,
  inferenceGeo: null,
  error: null,
  laterResult: null,
  terminal: false,
  flags: [],
};

/** Stands for a model that an answer does not name, so that no price is guessed. */
export const UNNAMED_MODEL = 'unknown';

export interface Normalised {
  readonly classes: ClassQuantities;
  readonly reasoning: number | null;
  /** Usage of other models; absent or empty when none took part. */
  readonly others?: readonly OtherUsage[];
  /** As in `TokenUsage`. */
  readonly isIncomplete?: boolean;
  /** As in `TokenUsage`. */
  readonly hasUnknownWrites?: boolean;
  /** False when the parts do not add up. */
  readonly consistent: boolean;
}

/** Usage under construction. */
export interface Draft {
  /** Null leaves the class absent; a negative or fractional number is repaired and doubted. */
  readonly set: (name: UsageClass, quantity: number | null) => void;
  readonly remark: () => void;
  /** Flags the usage and marks its cost as not fully known. */
  readonly doubt: () => void;
  /** Marks its cost as not fully known. */
  readonly lack: () => void;
  /** A model that writes is billed for both sides, so the cost of a report with one of them is not fully known. */
  readonly expectBoth: (input: number | null, output: number | null) => void;
  readonly done: (reasoning: number | null) => Normalised;
}

export function createDraft(): Draft {
  const classes: Partial<Record<UsageClass, number>> = {};
  let consistent = true;
  let isIncomplete = false;

  function doubt(): void {
    consistent = false;
    isIncomplete = true;
  }

  function lack(): void {
    isIncomplete = true;
  }

  function clean(quantity: number): number {
    const whole = Math.min(Math.max(Math.round(quantity), 0), Number.MAX_SAFE_INTEGER);
    if (whole !== quantity) doubt();
    return whole;
  }

  return {
    set: (name, quantity) => {
      if (quantity !== null) classes[name] = clean(quantity);
    },
    remark: () => {
      consistent = false;
    },
    doubt,
    lack,
    expectBoth: (input, output) => {
      if ((input === null) !== (output === null)) lack();
    },
    done: (reasoning) => {
      const part = reasoning === null ? null : clean(reasoning);
      // Reasoning is part of output; a larger count was made differently.
      if (part !== null && classes.output !== undefined && part > classes.output) consistent = false;
      return { classes, reasoning: part, consistent, ...(isIncomplete ? { isIncomplete } : {}) };
    },
  };
}

export function normaliseCount(name: UsageClass, quantity: number | null): Normalised {
  const draft = createDraft();
  draft.set(name, quantity);
  return draft.done(null);
}

export function createUsage(
  { classes, reasoning, others = [], isIncomplete = false, hasUnknownWrites = false }: Omit<Normalised, 'consistent'>,
  native: JsonObject,
): TokenUsage {
  return {
    classes,
    reasoning,
    ...(others.length === 0 ? {} : { others }),
    ...(isIncomplete ? { isIncomplete } : {}),
    ...(hasUnknownWrites ? { hasUnknownWrites } : {}),
    native,
  };
}

const COUNT_NAME = /(?:tokens|TokenCount|Tokens|_requests)$/;

/** A count that is there and is no number, such as text, or one beyond what a number holds. */
function hasUnreadableCount(native: JsonObject): boolean {
  return Object.entries(native).some(([name, value]) => {
    // Fireworks writes these as text, which its reader knows.
    if (name === 'perf_metrics') return false;
    if (isObject(value)) return hasUnreadableCount(value);
    const isUnreadable =
      typeof value === 'number' ? !Number.isFinite(value) : ['string', 'boolean'].includes(typeof value);
    return isUnreadable && COUNT_NAME.test(name);
  });
}

/** Only an object with members changes anything. */
export function withUsage(
  reported: ReportedUsage,
  usageObject: JsonValue | undefined,
  normalise: (native: JsonObject) => Normalised,
): ReportedUsage {
  if (!isObject(usageObject) || Object.keys(usageObject).length === 0) return reported;
  const native = mergeNative(reported.usage?.native ?? null, usageObject);
  const normalised = normalise(native);
  const isReadable = !hasUnreadableCount(native);
  const consistent = normalised.consistent && isReadable;
  const usage = createUsage(isReadable ? normalised : { ...normalised, isIncomplete: true }, native);
  // All reports so far are judged: what looked odd in midstream may add up at the end.
  const flags = reported.flags.filter((flag) => flag !== 'inconsistent');
  return { ...reported, usage, flags: consistent ? flags : [...flags, 'inconsistent'] };
}

export interface Context {
  readonly model?: string | null;
  readonly serviceTier?: string | null;
  readonly speed?: string | null;
  readonly inferenceGeo?: string | null;
}

export function withContext(reported: ReportedUsage, context: Context): ReportedUsage {
  const model = context.model ?? reported.model;
  const serviceTier = context.serviceTier ?? reported.serviceTier;
  const speed = context.speed ?? reported.speed;
  const inferenceGeo = context.inferenceGeo ?? reported.inferenceGeo;
  const same =
    model === reported.model &&
    serviceTier === reported.serviceTier &&
    speed === reported.speed &&
    inferenceGeo === reported.inferenceGeo;
  return same ? reported : { ...reported, model, serviceTier, speed, inferenceGeo };
}

export function termsOf({ serviceTier, speed, inferenceGeo }: ReportedUsage): ServedTerms {
  return { serviceTier, speed, inferenceGeo };
}

export function areSameTerms(first: ServedTerms | undefined, second: ServedTerms | undefined): boolean {
  return (
    first?.serviceTier === second?.serviceTier &&
    first?.speed === second?.speed &&
    first?.inferenceGeo === second?.inferenceGeo
  );
}

export function withFlag(reported: ReportedUsage, flag: CallFlag): ReportedUsage {
  return reported.flags.includes(flag) ? reported : { ...reported, flags: [...reported.flags, flag] };
}

/** Marks that a billed part was not read. */
export function withIncomplete(reported: ReportedUsage): ReportedUsage {
  const { usage } = reported;
  return usage === null ? reported : { ...reported, usage: { ...usage, isIncomplete: true } };
}

export function withLaterResult(reported: ReportedUsage, id: string | null, isFinal: boolean): ReportedUsage {
  if (id === null) return reported;
  const { laterResult } = reported;
  if (laterResult?.id === id && laterResult.isFinal === isFinal) return reported;
  return { ...reported, laterResult: { ...laterResult, id, isFinal } };
}

/** Marks the result as one of which a usage is missing, so that it is not taken to have cost nothing. */
export function withMissingUsage(reported: ReportedUsage): ReportedUsage {
  const { laterResult } = reported;
  if (laterResult === null || laterResult.lacksUsage === true) return reported;
  return { ...reported, laterResult: { ...laterResult, lacksUsage: true } };
}

/** These endings may come before anything was done. */
const IDLE_ENDINGS: readonly string[] = ['failed', 'cancelled'];

export function tellsOfWork(status: string): boolean {
  return !IDLE_ENDINGS.includes(status);
}

/** A result that is finished by a status that tells of work, and reports no usage. */
export function withEnding(reported: ReportedUsage, status: string): ReportedUsage {
  const isFinal = reported.laterResult?.isFinal === true;
  return isFinal && reported.usage === null && tellsOfWork(status) ? withMissingUsage(reported) : reported;
}

const MAX_PARTS = 256;

/** Notes a part of the answer (a choice, a candidate) and whether it has its finish reason. */
export function withPart(reported: ReportedUsage, index: number, isFinished: boolean): ReportedUsage {
  const { parts = [] } = reported;
  // Events after a finish reason (a filter's verdict) do not undo it.
  if (parts[index] === true || parts[index] === isFinished || !isPartIndex(index)) return reported;
  const length = Math.max(parts.length, index + 1);
  return {
    ...reported,
    parts: Array.from({ length }, (_, at) => (at === index ? isFinished : (parts[at] ?? null))),
  };
}

function isPartIndex(index: number): boolean {
  return Number.isInteger(index) && index >= 0 && index < MAX_PARTS;
}

/** Every part that began has its finish reason. */
export function isAnswered({ parts }: ReportedUsage): boolean {
  return parts !== undefined && !parts.includes(false);
}

/** Drops what only matters while the answer is read. */
export function withoutProgress({ parts: _, isUsageFinal, ...reported }: ReportedUsage): ReportedUsage {
  return isUsageFinal === undefined || reported.terminal ? reported : { ...reported, isUsageFinal };
}

/** Usage with or after the last finish reason is final. */
export function withFinalUsage(before: ReportedUsage, after: ReportedUsage): ReportedUsage {
  if (after.usage === null || after.usage === before.usage || !isAnswered(after)) return after;
  return { ...after, isUsageFinal: true };
}

export function withTerminal(reported: ReportedUsage): ReportedUsage {
  return reported.terminal ? reported : { ...reported, terminal: true };
}
