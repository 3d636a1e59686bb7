/** A picture as SVG text: boxes, arrows and texts, in colours of light and dark. Lengths are pixels. */

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'soft'
export type Point = readonly [x: number, y: number]

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly title: string
  /** Lines below the title. */
  readonly lines?: readonly string[]
  readonly tone?: Tone
}

const LINE = 17
const STYLE = `
text { font: 13px ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.small { font-size: 11.5px; fill: #59636e }
.mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12px; white-space: pre }
.paper { fill: #ffffff }
.plain { fill: #f6f8fa; stroke: #8c959f }
.soft { fill: none; stroke: #8c959f; stroke-dasharray: 5 4 }
.good { fill: #dafbe1; stroke: #1a7f37 }
.warn { fill: #fff8c5; stroke: #9a6700 }
.bad { fill: #ffebe9; stroke: #cf222e }
.arrow { fill: none; stroke: #59636e; stroke-width: 1.5 }
.lost { stroke: #cf222e; stroke-dasharray: 4 4 }
.head { fill: #59636e }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
  .paper { fill: #0d1117 }
  .plain { fill: #161b22; stroke: #656c76 }
  .soft { stroke: #656c76 }
  .good { fill: #0f2d1a; stroke: #3fb950 }
  .warn { fill: #2e2408; stroke: #d29922 }
  .bad { fill: #3a1214; stroke: #f85149 }
  .arrow { stroke: #9198a1 }
  .lost { stroke: #f85149 }
  .head { fill: #9198a1 }
}
`

export class Picture {
  readonly width: number
  readonly height: number
  readonly title: string
  readonly #parts: string[] = []

  /** @param title for readers who cannot see the picture */
  constructor(width: number, height: number, title: string) {
    this.width = width
    this.height = height
    this.title = title
  }

  box({ x, y, width, height, title, lines = [], tone = 'plain' }: Box): this {
    this.#parts.push(`<rect class="${tone}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`)
    const first = tone === 'soft' ? y + LINE : y + (height - lines.length * LINE) / 2 + 5
    this.text([x + width / 2, first], title, 'title', 'middle')
    for (const [i, line] of lines.entries()) this.text([x + width / 2, first + (i + 1) * LINE], line, 'small', 'middle')
    return this
  }

  text([x, y]: Point, text: string, look = '', anchor: 'start' | 'middle' | 'end' = 'start'): this {
    this.#parts.push(
      `<text class="${look}" x="${x}" y="${y}" text-anchor="${anchor}" xml:space="preserve">${escaped(text)}</text>`,
    )
    return this
  }

  /** Through all points, with a head at the last one. */
  arrow(...points: readonly Point[]): this {
    const path = points.map(point => point.join(' ')).join(' L ')
    this.#parts.push(`<path class="arrow" d="M ${path}" marker-end="url(#head)"/>`)
    return this
  }

  line(from: Point, to: Point, look = ''): this {
    this.#parts.push(`<path class="${`arrow ${look}`.trim()}" d="M ${from.join(' ')} L ${to.join(' ')}"/>`)
    return this
  }

  dot([x, y]: Point, radius: number, tone: Tone): this {
    this.#parts.push(`<circle class="${tone}" cx="${x}" cy="${y}" r="${radius}"/>`)
    return this
  }

  toString(): string {
    const { width, height } = this
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(this.title)}</title>
<style>${STYLE}</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="head" d="M 0 0 L 8 4 L 0 8 z"/></marker></defs>
<rect class="paper" width="${width}" height="${height}"/>
${this.#parts.join('\n')}
</svg>
`
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
