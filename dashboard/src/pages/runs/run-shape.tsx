/** The course of a run as a small drawing: how many calls were active, and where one failed. */

const WIDTH = 96;
const HEIGHT = 20;

export function RunShape({ shape, errors }: { readonly shape: readonly number[]; readonly errors: readonly number[] }) {
  if (shape.length === 0) return <span className="text-ink-faint">—</span>;
  const highest = Math.max(...shape, 1);
  const step = WIDTH / shape.length;
  const failed = errors.filter((error) => error > 0).length;
  const idle = shape.filter((calls) => calls === 0).length;
  const label = `Up to ${highest} calls at once; ${Math.round((idle / shape.length) * 100)}% of the time none${failed > 0 ? '; calls failed' : ''}`;
  return (
    <svg role="img" aria-label={label} width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`}>
      <title>{label}</title>
      {shape.map((calls, part) => {
        const isFailed = (errors[part] ?? 0) > 0;
        const height = calls === 0 ? (isFailed ? 3 : 0) : Math.max(2, (calls / highest) * (HEIGHT - 3));
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in time
          <g key={part}>
            <rect
              x={part * step}
              y={HEIGHT - 1 - height}
              width={Math.max(1, step * 0.85)}
              height={height}
              fill={isFailed ? 'var(--bad)' : 'var(--bar)'}
            />
            {/* Not by colour alone: a failed part has a mark above it. */}
            {isFailed && <rect x={part * step} y={0} width={Math.max(1.5, step * 0.85)} height={2} fill="var(--bad)" />}
          </g>
        );
      })}
      <line x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--line)" />
    </svg>
  );
}
