/** Builds a `UsageReading` step by step. Every function returns a new reading; none of them ever throws. */
import type {
  CallFlag,
  ClassQuantities,
  JsonObject,
  JsonValue,
  OtherUsage,
  ServedTerms,
  TokenUsage,
  UsageClass,
  UsageReading,
} from '../token-usage.ts';
import { isObject } from './json-reading.ts';
import { mergeNative } from './merge-native.ts';

/** Not frozen: `JSON.stringify` takes four times as long for a record in which an array is. */
export const EMPTY_READING: UsageReading = {
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

/** What a shape makes of a usage object. */
export interface Normalised {
  readonly classes: ClassQuantities;
  readonly reasoning: number | null;
  /** What other models used; absent or empty when none took part. */
  readonly others?: readonly OtherUsage[];
  /** As in `TokenUsage`. */
  readonly isIncomplete?: boolean;
  /** As in `TokenUsage`. */
  readonly hasUnknownWrites?: boolean;
  /** False when the parts do not add up. */
  readonly consistent: boolean;
}

/** Usage under construction: disjoint classes, and whether everything added up. */
export interface Draft {
  /** Sets a class; null leaves it absent, a negative or broken number becomes 0 or whole and is doubted. */
  readonly set: (name: UsageClass, quantity: number | null) => void;
  readonly remark: () => void;
  /** Remarks it, and that nobody knows what is right: the cost is not known in full. */
  readonly doubt: () => void;
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
    done: (reasoning) => {
      const part = reasoning === null ? null : clean(reasoning);
      // Reasoning is a part of output; one that is larger was counted in another way.
      if (part !== null && classes.output !== undefined && part > classes.output) consistent = false;
      return { classes, reasoning: part, consistent, ...(isIncomplete ? { isIncomplete } : {}) };
    },
  };
}

/** Usage that is one count and nothing else. */
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

/** Takes in a reported usage object; anything but an object with members leaves the reading as it is. */
export function withUsage(
  reading: UsageReading,
  reported: JsonValue | undefined,
  normalise: (native: JsonObject) => Normalised,
): UsageReading {
  if (!isObject(reported) || Object.keys(reported).length === 0) return reading;
  const native = mergeNative(reading.usage?.native ?? null, reported);
  const normalised = normalise(native);
  const { consistent } = normalised;
  const usage = createUsage(normalised, native);
  // Judged on all that was reported so far: what looked odd in the middle of a stream may add up at its end.
  const flags = reading.flags.filter((flag) => flag !== 'inconsistent');
  return { ...reading, usage, flags: consistent ? flags : [...flags, 'inconsistent'] };
}

export interface Context {
  readonly model?: string | null;
  readonly serviceTier?: string | null;
  readonly speed?: string | null;
  readonly inferenceGeo?: string | null;
}

/** The latest value that is not null wins. */
export function withContext(reading: UsageReading, context: Context): UsageReading {
  const model = context.model ?? reading.model;
  const serviceTier = context.serviceTier ?? reading.serviceTier;
  const speed = context.speed ?? reading.speed;
  const inferenceGeo = context.inferenceGeo ?? reading.inferenceGeo;
  const same =
    model === reading.model &&
    serviceTier === reading.serviceTier &&
    speed === reading.speed &&
    inferenceGeo === reading.inferenceGeo;
  return same ? reading : { ...reading, model, serviceTier, speed, inferenceGeo };
}

export function termsOf({ serviceTier, speed, inferenceGeo }: UsageReading): ServedTerms {
  return { serviceTier, speed, inferenceGeo };
}

export function areSameTerms(first: ServedTerms | undefined, second: ServedTerms | undefined): boolean {
  return (
    first?.serviceTier === second?.serviceTier &&
    first?.speed === second?.speed &&
    first?.inferenceGeo === second?.inferenceGeo
  );
}

export function withFlag(reading: UsageReading, flag: CallFlag): UsageReading {
  return reading.flags.includes(flag) ? reading : { ...reading, flags: [...reading.flags, flag] };
}

/** A part of what is billed was not read. */
export function withIncomplete(reading: UsageReading): UsageReading {
  const { usage } = reading;
  return usage === null ? reading : { ...reading, usage: { ...usage, isIncomplete: true } };
}

/** The answer speaks of a result that is made later, or hands it over. */
export function withLaterResult(reading: UsageReading, id: string | null, isFinal: boolean): UsageReading {
  if (id === null) return reading;
  const { laterResult } = reading;
  if (laterResult?.id === id && laterResult.isFinal === isFinal) return reading;
  return { ...reading, laterResult: { id, isFinal } };
}

/** More than any request can ask for. */
const MAX_PARTS = 256;

/** A part of the answer (a choice, a candidate) was seen, with its finish reason or yet without. */
export function withPart(reading: UsageReading, index: number, isFinished: boolean): UsageReading {
  const { parts = [] } = reading;
  // What follows a finish reason (the verdict of a filter) does not take it back.
  if (parts[index] === true || parts[index] === isFinished || !isPartIndex(index)) return reading;
  const length = Math.max(parts.length, index + 1);
  return {
    ...reading,
    parts: Array.from({ length }, (_, at) => (at === index ? isFinished : (parts[at] ?? null))),
  };
}

function isPartIndex(index: number): boolean {
  return Number.isInteger(index) && index >= 0 && index < MAX_PARTS;
}

/** Every part of the answer that was begun has its finish reason. */
export function isAnswered({ parts }: UsageReading): boolean {
  return parts !== undefined && !parts.includes(false);
}

/** What was noted on the way to the end, and says nothing more when the answer is over. */
export function withoutProgress({ parts: _, isUsageFinal, ...reading }: UsageReading): UsageReading {
  return isUsageFinal === undefined || reading.terminal ? reading : { ...reading, isUsageFinal };
}

/** Usage that comes with the last finish reason, or behind it, is the last. */
export function withFinalUsage(before: UsageReading, after: UsageReading): UsageReading {
  if (after.usage === null || after.usage === before.usage || !isAnswered(after)) return after;
  return { ...after, isUsageFinal: true };
}

export function withTerminal(reading: UsageReading): UsageReading {
  return reading.terminal ? reading : { ...reading, terminal: true };
}
