/** Looks whether an alert's condition is true, by kind: what is true now, or what has happened since the alert was made. */
import type pg from 'pg';
import { formatUsd, parseUsd } from '../../vocabulary/usd.ts';
import { budgetSubject } from '../store/budget-subject.ts';
import { GONE_AFTER_SECONDS, listNodes } from '../store/nodes.ts';
import { OPERATOR_JOBS } from '../store/operator-jobs.ts';
import { pseudonymOf } from '../store/pseudonym.ts';
import type { Finding } from './alert-events.ts';
import { ALERT_SETTINGS } from './alert-kinds.ts';
import { describeQuestion, nameFigure } from './alert-question.ts';
import type { Alert } from './alert-store.ts';
import { askNow } from './ask-question.ts';
import { isMadeByOperator } from './made-by-operator.ts';

/** Of what is told once, in a look: the next look leaves out what was told and takes the next ones. */
const MAX_FINDINGS = 100;
/** Shorter than events are kept, by which it is known that a job was told. */
const JOBS_DAYS = 30;

export interface Findings {
  readonly findings: readonly Finding[];
  /** True while it lasts, and told again when it comes back; else it happens once. */
  readonly lasts: boolean;
}

type Look = (pool: pg.Pool, alert: Alert, nowMs: number) => Promise<Findings>;

const lookAtQuestion: Look = async (pool, alert, nowMs) => {
  const question = ALERT_SETTINGS.question.parse(alert.settings);
  const value = await askNow(pool, alert.accountId, question, nowMs);
  if (value === null || parseUsd(value) < parseUsd(question.threshold)) return { findings: [], lasts: true };
  const figure = nameFigure(question, value);
  const finding = {
    subject: 'question',
    title: `${alert.name}: ${figure}`,
    body: `${figure} within the last ${question.window_seconds} s. The alert is for ${describeQuestion(question)}.`,
    numbers: { sum: value, threshold: question.threshold, window_seconds: question.window_seconds },
  };
  return { findings: [finding], lasts: true };
};

/** Of an alert, by the index of open events, as those of what happens once are all. */
const isTold = (subject: string, accountId: string, alertId: string): string =>
  `exists (select from alert_events e where e.account_id = ${accountId} and e.alert_id = ${alertId}
     and e.subject = ${subject} and e.ended_at is null)`;

interface BudgetRow {
  readonly subject: string;
  readonly name: string;
  readonly scope: string;
  readonly value: string;
  readonly periodStart: Date;
  readonly spent: string;
  readonly amount: string;
}

const subjectOf = (value: string): string =>
  budgetSubject({
    budgetId: 'b.id',
    value,
    period: `to_char(s.period_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    percent: '$3::int4',
  });
const BUDGET_SUBJECT = subjectOf('s.value');
/** As erasures leave what was told, also where the sum keeps its value: that of a run, or of another metadata key. */
const ERASED_SUBJECT = subjectOf(pseudonymOf('s.value'));

const lookAtBudgets: Look = async (pool, alert) => {
  const { percent, budget_id: budgetId } = ALERT_SETTINGS.budget.parse(alert.settings);
  // Of each budget and value the period that was spent in last.
  const { rows } = await pool.query<BudgetRow>(
    `select ${BUDGET_SUBJECT} as subject, b.name, b.scope, s.value, s.period_start as "periodStart", sum(s.spent)::text as spent,
       coalesce(max(s.run_limit), b.amount)::text as amount
     from budgets b join budget_spend s on s.account_id = b.account_id and s.budget_id = b.id
     where b.account_id = $1 and b.deleted_at is null and ($2::int4 is null or b.id = $2)
       and exists (select from budget_spend l where l.account_id = s.account_id and l.budget_id = s.budget_id
         and l.value = s.value and l.period_start = s.period_start and l.updated_at > greatest($4, now() - interval '1 hour'))
       and not ${isTold(BUDGET_SUBJECT, '$1', '$5')} and not ${isTold(ERASED_SUBJECT, '$1', '$5')}
     group by b.account_id, b.id, s.value, s.period_start
     having sum(s.spent) * 100 >= coalesce(max(s.run_limit), b.amount) * $3 order by s.period_start desc limit ${MAX_FINDINGS}`,
    [alert.accountId, budgetId, percent, alert.createdAt, alert.id],
  );
  const findings = rows.map(({ subject, name, scope, value, periodStart, spent, amount }) => ({
    subject,
    title: `${alert.name}: budget ${name} is spent to ${percent} %`,
    body: `$${formatUsd(parseUsd(spent))} of $${formatUsd(parseUsd(amount))} is spent of the budget "${name}" (${scope} ${value || 'all'}) in the period that began at ${periodStart.toISOString()}.`,
    numbers: { spent_usd: formatUsd(parseUsd(spent)), amount_usd: formatUsd(parseUsd(amount)), percent },
  }));
  return { findings, lasts: false };
};

interface HitRow {
  readonly id: number;
  readonly rule: string;
  readonly scope: string;
  readonly value: string;
  readonly action: string;
  readonly reason: string;
}

const lookAtBrakes: Look = async (pool, alert) => {
  const { rules } = ALERT_SETTINGS.brake.parse(alert.settings);
  const { rows } = await pool.query<HitRow>(
    `select id, rule, scope, value, action, reason from brake_hits h
     where account_id = $1 and hit_at > greatest($2, now() - interval '1 day') and hit_by is null
       and ($3::text[] is null or rule = any($3))
       and not ${isTold("'hit ' || h.id", '$1', '$4')}
     order by id limit ${MAX_FINDINGS}`,
    [alert.accountId, alert.createdAt, rules, alert.id],
  );
  const findings = rows.map(({ id, rule, scope, value, action, reason }) => ({
    subject: `hit ${id}`,
    title: `${alert.name}: ${scope} ${value} ${action === 'pause' ? 'is paused' : 'runs away'}`,
    body: `${reason} (rule ${rule}). ${action === 'pause' ? `Its calls are refused until somebody resumes it: tollgate brakes resume ${id}` : `Nothing was stopped. To stop it: tollgate brakes pause ${scope} ${value}`}`,
    numbers: { hit: id, rule, scope, value },
  }));
  return { findings, lasts: false };
};

const MODEL_SUBJECT = "'model ' || provider || ' ' || coalesce(model, '')";

const lookAtUnpriced: Look = async (pool, alert) => {
  const { rows } = await pool.query<{ subject: string; provider: string; model: string | null; calls: number }>(
    `select ${MODEL_SUBJECT} as subject, provider, model, sum(unpriced_calls)::int8 as calls from llm_cost_hours
     where account_id = $1 and facet = '' and hour >= date_trunc('hour', greatest($2, now() - interval '1 hour'))
       and not ${isTold(MODEL_SUBJECT, '$1', '$3')}
     group by provider, model having sum(unpriced_calls) > 0 order by calls desc limit ${MAX_FINDINGS}`,
    [alert.accountId, alert.createdAt, alert.id],
  );
  const findings = rows.map(({ subject, provider, model, calls }) => ({
    subject,
    title: `${alert.name}: no price for ${model ?? 'an unnamed model'} of ${provider}`,
    body: `Calls of ${model ?? 'an unnamed model'} of ${provider} have no total cost. tollgate costs unpriced says why, and how to declare a price.`,
    numbers: { calls, provider, model: model ?? '' },
  }));
  return { findings, lasts: false };
};

const lookAtNodes: Look = async (pool, alert) => {
  const settings = ALERT_SETTINGS.nodes.parse(alert.settings);
  const silentMs = Math.max(GONE_AFTER_SECONDS, settings.silent_seconds) * 1_000;
  // All that are listed: those that are silent stand last.
  const findings = (await listNodes(pool)).flatMap((node): Finding[] => {
    const found: Finding[] = [];
    if (node.stoppedAt === null && node.silentMs >= silentMs)
      found.push({
        subject: `node ${node.id} silent`,
        title: `${alert.name}: the node ${node.name} is silent`,
        body: `The node ${node.name} (${node.host}) has given no sign of life for ${Math.round(node.silentMs / 1_000)} s. What it has not stored waits in its spool; see docs/node-gone.md.`,
        numbers: { silent_seconds: Math.round(node.silentMs / 1_000) },
      });
    if (node.recordsWaiting !== null && node.recordsWaiting >= settings.records_waiting)
      found.push({
        subject: `node ${node.id} waiting`,
        title: `${alert.name}: ${node.recordsWaiting} records wait on the node ${node.name}`,
        body: `${node.recordsWaiting} records wait in the spool of ${node.name} (${node.host}); ${settings.records_waiting} or more are told. tollgate doctor says why.`,
        numbers: { records_waiting: node.recordsWaiting },
      });
    return found;
  });
  return { findings, lasts: true };
};

const lookAtJobs: Look = async (pool, alert) => {
  const hidden = isMadeByOperator(alert) ? [] : OPERATOR_JOBS;
  const { rows } = await pool.query<{ id: number; title: string; error: string | null }>(
    `select id, title, error from jobs j where account_id = $1 and state = 'failed' and kind <> all($4)
       and finished_at > greatest($2, now() - make_interval(days => ${JOBS_DAYS}))
       and not ${isTold("'job ' || j.id", '$1', '$3')}
     order by id limit ${MAX_FINDINGS}`,
    [alert.accountId, alert.createdAt, alert.id, hidden],
  );
  const findings = rows.map(({ id, title, error }) => ({
    subject: `job ${id}`,
    title: `${alert.name}: the job "${title}" has failed`,
    body: `${error ?? 'It has failed.'} It goes on where it stopped with: tollgate jobs resume ${id}`,
    numbers: { job: id },
  }));
  return { findings, lasts: false };
};

export const LOOKS: Readonly<Record<Alert['kind'], Look>> = {
  question: lookAtQuestion,
  budget: lookAtBudgets,
  brake: lookAtBrakes,
  unpriced: lookAtUnpriced,
  nodes: lookAtNodes,
  jobs: lookAtJobs,
};
