/** Above a run: that it is paused, and why; or what a brake has found of it lately. */
import { useQuery } from '@tanstack/react-query';
import { hitsOfRunQuery } from '../../api/brakes.ts';
import { Timestamp } from '../../components/timestamp.tsx';
import { nameRule } from '../brakes/brake-words.ts';
import { ResumeButton } from '../brakes/resume-button.tsx';

const REFETCH_MS = 5_000;

export function RunPause({ trace }: { readonly trace: string }) {
  const { data } = useQuery({ ...hitsOfRunQuery(trace), refetchInterval: REFETCH_MS });
  const hits = data?.data ?? [];
  const hit = hits.find(({ is_paused: isPaused }) => isPaused) ?? hits[0];
  if (hit === undefined) return null;
  const look = hit.is_paused ? 'border-bad/50 bg-bad-soft' : 'border-line bg-raised';
  return (
    <section aria-label="Brake" className={`mx-4 mb-3 flex flex-wrap items-center gap-3 rounded-lg border p-3 ${look}`}>
      <p className="min-w-0 flex-1 text-sm break-words">
        <span className="font-medium">{hit.is_paused ? 'Paused' : nameRule(hit.rule)}</span>: {hit.reason},{' '}
        <Timestamp at={hit.hit_at} form="relative" />
        {hit.is_paused && '. Its calls are refused.'}
        {hit.resumed_at !== null && (
          <>
            ; resumed <Timestamp at={hit.resumed_at} form="relative" />
          </>
        )}
      </p>
      {hit.is_paused && <ResumeButton hit={hit} />}
    </section>
  );
}
