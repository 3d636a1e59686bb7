/** Memory is short when what lives fills the heap or the machine; garbage is no lack. */
import t from 'tap'
import { type MemoryFigures, MemoryRoom, oldLimitBytes } from '../../../src/apiserver/shortage/memoryRoom.ts'

const MIB = 1024 * 1024

function room(first: Partial<MemoryFigures> = {}) {
  let figures = { heapBytes: 0, heapLimitBytes: 1000, outsideBytes: 0, machineBytes: 100_000, ...first }
  let nowMs = 0
  const lines: string[] = []
  const tell = (_: unknown, text: string): void => void lines.push(text)
  const memory = new MemoryRoom({
    figures: () => figures,
    elapsed: () => nowMs,
    log: { info: tell, warn: tell, error: tell },
  })
  return {
    lines,
    lackAt(next: Partial<MemoryFigures>) {
      figures = { ...figures, ...next }
      nowMs += 100
      return memory.lack()
    },
    lackNow: () => memory.lack(),
  }
}

t.test(
  'growth ends before the heap is full, and goes on when there is room again; the log tells each once',
  async t => {
    const { lackAt, lines } = room()
    t.equal(lackAt({ heapBytes: 799 }), undefined)
    t.match(lackAt({ heapBytes: 800 }), { critical: false, message: /delete what is not needed/ })
    t.match(lackAt({ heapBytes: 850 }), { critical: false })
    t.match(lackAt({ heapBytes: 900 }), { critical: true })
    t.equal(lackAt({ heapBytes: 700 }), undefined)
    t.match(lines, [/memory is short/, /memory is there again/])
  },
)

t.test('figures count for a tenth of a second', async t => {
  const { lackAt, lackNow } = room({ heapBytes: 900 })
  t.ok(lackNow())
  t.equal(lackAt({ heapBytes: 1 }), undefined)
  t.equal(lackNow(), undefined)
})

t.test('what lies outside of the heap counts against the machine', async t => {
  const { lackAt } = room()
  t.equal(lackAt({ heapBytes: 100, outsideBytes: 89_000 }), undefined)
  t.match(lackAt({ heapBytes: 100, outsideBytes: 90_000 }), { critical: false })
  t.match(lackAt({ heapBytes: 100, outsideBytes: 95_000 }), { critical: true })
})

t.test('the limit of what lives long is without the nursery, as the process was started', async t => {
  t.equal(oldLimitBytes(156 * MIB, ''), 60 * MIB, "V8's default")
  t.equal(oldLimitBytes(72 * MIB, '--max-semi-space-size=4 --no-warnings'), 60 * MIB)
  t.equal(oldLimitBytes(72 * MIB, '--max-semi-space-size=16 --max_semi_space_size 4'), 60 * MIB)
  t.equal(oldLimitBytes(80 * MIB, ''), 20 * MIB, 'never nothing')
})
