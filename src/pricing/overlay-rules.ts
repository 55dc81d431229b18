/** Providers' rules for many models: multipliers, classes billed at another's rate, renamed models. */
import type { UsageClass } from '../vocabulary/token-usage.ts';
import { OVERLAY_DATA } from './overlay-data.ts';
import { readSourced, type Sourced } from './price-data.ts';

export type TermName = 'serviceTier' | 'speed' | 'inferenceGeo' | 'place';

export interface MultiplierRule extends Sourced {
  readonly term: TermName;
  readonly value: string;
  readonly factor: string;
  readonly units: readonly UsageClass[];
}

export interface DerivedRule extends Sourced {
  readonly units: readonly UsageClass[];
  readonly of: UsageClass;
  readonly factor: string;
}

export interface RenameRule extends Sourced {
  readonly model: string;
}

export const MULTIPLIER_RULES: readonly MultiplierRule[] = OVERLAY_DATA.flatMap((data) =>
  data.multipliers.map((rule) => {
    const { term, value, factor, classes } = rule;
    return { ...readSourced(data, rule), term, value, factor, units: classes };
  }),
);

export const DERIVED_RULES: readonly DerivedRule[] = OVERLAY_DATA.flatMap((data) =>
  data.derived.map((rule) => {
    const { classes, of, factor } = rule;
    return { ...readSourced(data, rule), units: classes, of, factor };
  }),
);

export const RENAME_RULES: readonly RenameRule[] = OVERLAY_DATA.flatMap((data) =>
  data.aliases.map((rule) => ({ ...readSourced(data, rule), model: rule.model })),
);
