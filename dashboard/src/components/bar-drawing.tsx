/**
 * Stacked bars over time on a canvas (ECharts, in a chunk of its own). It draws and reports clicks; words, figures,
 * choosing and the keyboard are around it, in HTML.
 */
import { BarChart, type BarSeriesOption } from 'echarts/charts';
import { GridComponent, type GridComponentOption } from 'echarts/components';
import { type ComposeOption, type ECharts, init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { PLOT } from './plot-frame.ts';
import type { Pattern, SeriesLook } from './series-look.ts';

export interface DrawnSeries {
  readonly key: string;
  readonly look: SeriesLook;
  readonly heights: readonly number[];
}

interface BarDrawingProps {
  readonly labels: readonly string[];
  readonly series: readonly DrawnSeries[];
  readonly formatTick: (value: number) => string;
  readonly onSeries: (key: string) => void;
}

type DrawingOption = ComposeOption<BarSeriesOption | GridComponentOption>;

/** The drawing library computes with colours and knows only sRGB: the browser turns ours into it. */
function readColour(variable: string): string {
  const canvas = new OffscreenCanvas(1, 1);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) return 'gray';
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return `rgb(${red},${green},${blue})`;
}

const LINES = { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [1.5, 5] } as const;

function readDecal(pattern: Pattern, color: string) {
  switch (pattern) {
    case 'solid':
      return { symbol: 'none' };
    case 'dots':
      return { symbol: 'circle', symbolSize: 0.7, dashArrayX: [[4, 4]], dashArrayY: [4, 4], color };
    case 'diagonal':
      return { ...spreadLines(), rotation: -Math.PI / 4, color };
    case 'back-diagonal':
      return { ...spreadLines(), rotation: Math.PI / 4, color };
    case 'horizontal':
      return { ...spreadLines(), rotation: 0, color };
    case 'vertical':
      return { ...spreadLines(), rotation: Math.PI / 2, color };
  }
}

function spreadLines() {
  return { symbol: LINES.symbol, dashArrayX: [...LINES.dashArrayX], dashArrayY: [...LINES.dashArrayY] };
}

function buildOption({ labels, series, formatTick }: BarDrawingProps): DrawingOption {
  const [line, soft, panel] = ['--line', '--ink-soft', '--panel'].map(readColour);
  const fontSize = 11;
  return {
    // Nothing moves: bars that grow say nothing, and some people cannot bear it.
    animation: false,
    grid: { ...PLOT, outerBoundsMode: 'none' },
    xAxis: {
      type: 'category',
      data: [...labels],
      axisTick: { show: false },
      axisLine: { lineStyle: { color: line ?? 'gray' } },
      axisLabel: { color: soft ?? 'gray', fontSize, hideOverlap: true },
    },
    yAxis: {
      type: 'value',
      splitNumber: 4,
      splitLine: { lineStyle: { color: line ?? 'gray' } },
      axisLabel: { color: soft ?? 'gray', fontSize, formatter: formatTick },
    },
    series: series.map(
      ({ key, look, heights }): BarSeriesOption => ({
        type: 'bar',
        id: key,
        stack: 'all',
        // A bar of no height would still have an edge, over the axis.
        data: heights.map((height) => (height === 0 ? null : height)),
        barCategoryGap: '18%',
        emphasis: { disabled: true },
        itemStyle: {
          color: readColour(look.colour),
          decal: readDecal(look.pattern, panel ?? 'white'),
          borderColor: panel ?? 'white',
          borderWidth: labels.length > 80 ? 0 : 0.5,
        },
      }),
    ),
  };
}

export function BarDrawing(props: BarDrawingProps) {
  const theme = useThemeName();
  const frame = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  const { onSeries } = props;
  const handler = useRef(onSeries);
  useEffect(() => {
    handler.current = onSeries;
  });
  useEffect(() => {
    if (frame.current === null) return;
    use([BarChart, GridComponent, CanvasRenderer]);
    const created = init(frame.current);
    created.on('click', ({ seriesId }) => {
      if (typeof seriesId === 'string') handler.current(seriesId);
    });
    chart.current = created;
    const observer = new ResizeObserver(() => created.resize());
    observer.observe(frame.current);
    return () => {
      observer.disconnect();
      created.dispose();
      chart.current = null;
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme's colours are read from the page
  useEffect(() => chart.current?.setOption(buildOption(props), { notMerge: true }), [props, theme]);
  return <div ref={frame} aria-hidden="true" className="size-full" />;
}

function subscribe(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  return () => observer.disconnect();
}

function useThemeName(): string {
  return useSyncExternalStore(subscribe, () => document.documentElement.dataset['theme'] ?? 'light');
}
