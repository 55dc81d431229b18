/** A row's course over time as small bars. A drawing: its figures stand beside it. */

const WIDTH = 96;
const HEIGHT = 20;

export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const highest = Math.max(...values, Number.MIN_VALUE);
  const step = WIDTH / Math.max(1, values.length);
  return (
    <svg role="img" aria-label={label} width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`}>
      {values.map((value, index) => {
        const height = value === 0 ? 0 : Math.max(1, (value / highest) * HEIGHT);
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place in time
            key={index}
            x={index * step}
            y={HEIGHT - height}
            width={Math.max(0.5, step * 0.8)}
            height={height}
            fill="var(--bar)"
          />
        );
      })}
      <line x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--line)" />
    </svg>
  );
}
