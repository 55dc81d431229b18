/** Loads and removes the demo data: runs and calls to look at before one has any. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { getJson, sendJson } from '../../api/client.ts';
import { Button, buttonClass } from '../../components/buttons.tsx';
import { Problem } from '../../components/states.tsx';

export function DemoDataButtons() {
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['demo-data'],
    queryFn: ({ signal }) => getJson('/demo-data', {}, signal),
  });
  const changing = useMutation({
    mutationFn: (method: 'post' | 'delete') => sendJson(method, '/demo-data', {}),
    onSuccess: () => queries.invalidateQueries(),
  });
  if (data === undefined) return null;
  return (
    <div className="flex flex-wrap items-center gap-2">
      {data.loaded ? (
        <>
          <span className="text-ink-soft">{data.calls} calls of demo data are loaded, marked Environment: demo.</span>
          <Link to="/runs" search={{ range: '7d' }} className={buttonClass('primary')}>
            See its runs
          </Link>
          <Button disabled={changing.isPending} onClick={() => changing.mutate('delete')}>
            {changing.isPending ? 'Removing…' : 'Remove demo data'}
          </Button>
        </>
      ) : (
        <Button disabled={changing.isPending} onClick={() => changing.mutate('post')}>
          {changing.isPending ? 'Loading…' : 'Load demo data'}
        </Button>
      )}
      <Problem message={changing.error?.message} />
    </div>
  );
}
