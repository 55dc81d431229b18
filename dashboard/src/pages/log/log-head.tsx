/** The head of a call: how it went, what served it, when, how long, what it cost, and where it stands in its run. */
import { Link } from '@tanstack/react-router';
import type { LogDetail } from '../../api/logs.ts';
import { Duration, Money, Tokens } from '../../components/amounts.tsx';
import { Badge, LEFT_BEFORE, ProviderMark, StatusBadge } from '../../components/badges.tsx';
import { buttonClass } from '../../components/buttons.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { CopyMenu } from './copy-menu.tsx';
import { RunBreadcrumb } from './run-breadcrumb.tsx';

interface LogHeadProps {
  readonly log: LogDetail;
  readonly isPage: boolean;
  readonly onShow: ((id: string) => void) | undefined;
  readonly sought: string;
}

export function LogHead({ log, isPage, onShow, sought }: LogHeadProps) {
  const isOpen = log.state === 'open';
  const asked = log.model_requested !== null && log.model !== null && log.model_requested !== log.model;
  return (
    <div className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <StatusBadge
          outcome={isOpen ? 'open' : (log.outcome ?? '')}
          status={log.status}
          closedBefore={log.closed_before}
        />
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">
          {log.model ?? log.model_requested ?? log.endpoint ?? ''}
        </span>
        {asked && (
          <span className="text-xs text-ink-faint [overflow-wrap:anywhere]">asked for {log.model_requested}</span>
        )}
        {log.provider !== null && <ProviderMark provider={log.provider} />}
        {log.streamed === true && <Badge>stream</Badge>}
        {log.attempt !== null && log.attempt > 0 && <Badge tone="warn">retry {log.attempt}</Badge>}
        {log.cost_status === 'unpriced' && <Badge tone="warn">no price</Badge>}
        {log.cost_status === 'no_usage' && <Badge>no usage</Badge>}
        <span className="ml-auto flex gap-1">
          <CopyMenu log={log} />
          {!isPage && (
            <Link
              to="/log/$id"
              params={{ id: log.id }}
              search={{ q: sought === '' ? undefined : sought }}
              className={buttonClass('quiet')}
            >
              Full page
            </Link>
          )}
        </span>
      </div>
      <div className="flex flex-wrap items-center gap-x-5 gap-y-1 text-ink-soft">
        <Timestamp at={log.requested_at} />
        <Duration ms={log.duration_ms} />
        <Tokens of={log} />
        <strong className="text-ink">
          <Money value={log.total_cost} />
        </strong>
      </div>
      {log.closed_before !== null && (
        <p className="text-ink-soft">
          {LEFT_BEFORE[log.closed_before] ?? `The client left before: ${log.closed_before}`}.
        </p>
      )}
      {log.error_message !== null && (
        <p className="rounded-md bg-bad-soft px-2.5 py-1.5 [overflow-wrap:anywhere]">
          {log.error_type !== null && <strong className="mr-1.5 text-bad">{log.error_type}</strong>}
          {log.error_message}
        </p>
      )}
      <RunBreadcrumb log={log} onShow={onShow} />
    </div>
  );
}
