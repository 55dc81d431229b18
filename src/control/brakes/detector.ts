/** Tells which rules are true of which run or key, call by call. In memory, bounded; the least recently seen go first. */
import { dropOldest } from '../../vocabulary/drop-oldest.ts';
import type { Fact } from './brake-facts.ts';
import type { BrakeScope, NewHit } from './brake-hits.ts';
import type { BrakeAction, EffectiveRule } from './brake-rules.ts';
import { JUDGES } from './judge-rules.ts';
import { createSubjectHistory, type SubjectHistory } from './subject-history.ts';

const MAX_SUBJECTS = 10_000;
/** A rule hits a subject again only after so long. */
const QUIET_MS = 3_600_000;
/** A pause for a call of so long ago would stop what may be well again. */
const MAX_PAUSE_AGE_MS = 15 * 60_000;

interface Subject {
  readonly history: SubjectHistory;
  readonly hitMs: Map<string, number>;
}

interface Named {
  readonly accountId: number;
  readonly scope: BrakeScope;
  readonly value: string;
}

export type DetectedHit = NewHit & { readonly action: Exclude<BrakeAction, 'off'> };

export interface Detector {
  readonly note: (fact: Fact, rules: readonly EffectiveRule[], nowMs: number) => readonly DetectedHit[];
  /** A hit from before this process: the rule is quiet about it. */
  readonly remember: (subject: Named, rule: string, hitMs: number) => void;
  /** Resumed: what was before does not count any more. */
  readonly beginAnew: (subject: Named, fromMs: number) => void;
}

export function createDetector(maxSubjects = MAX_SUBJECTS): Detector {
  /** The most recently seen stand last. */
  const subjects = new Map<string, Subject>();
  const resumedMs = new Map<string, number>();

  const nameOf = ({ accountId, scope, value }: Named): string => `${accountId} ${scope} ${value}`;

  function findSubject(name: string): Subject {
    const subject = subjects.get(name) ?? { history: createSubjectHistory(), hitMs: new Map() };
    subjects.delete(name);
    subjects.set(name, subject);
    dropOldest(subjects, maxSubjects);
    return subject;
  }

  function judge(named: Named, fact: Fact, rules: readonly EffectiveRule[], nowMs: number): readonly DetectedHit[] {
    const own = rules.filter(({ scope, action }) => scope === named.scope && action !== 'off');
    const name = nameOf(named);
    if (own.length === 0 || fact.atMs < (resumedMs.get(name) ?? 0)) return [];
    const { history, hitMs } = findSubject(name);
    history.add(fact);
    return own.flatMap(({ rule, action, settings }) => {
      if (fact.atMs - (hitMs.get(rule) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return [];
      const verdict = JUDGES[rule](fact, history, settings);
      if (verdict === null) return [];
      hitMs.set(rule, fact.atMs);
      const isLate = nowMs - fact.atMs > MAX_PAUSE_AGE_MS;
      return [
        {
          ...named,
          ...verdict,
          rule,
          action: action === 'pause' && !isLate ? ('pause' as const) : ('alarm' as const),
          callId: fact.id,
          hitBy: null,
        },
      ];
    });
  }

  return {
    note: (fact, rules, nowMs) => {
      const { accountId } = fact;
      const ofKey: Named = { accountId, scope: 'key', value: String(fact.keyId) };
      const hits = judge(ofKey, fact, rules, nowMs);
      if (fact.run === null) return hits;
      return [...judge({ accountId, scope: 'run', value: fact.run }, fact, rules, nowMs), ...hits];
    },
    remember: (named, rule, hitMs) => {
      const subject = findSubject(nameOf(named));
      subject.hitMs.set(rule, Math.max(hitMs, subject.hitMs.get(rule) ?? 0));
    },
    beginAnew: (named, fromMs) => {
      const name = nameOf(named);
      subjects.delete(name);
      resumedMs.delete(name);
      resumedMs.set(name, fromMs);
      dropOldest(resumedMs, maxSubjects);
    },
  };
}
