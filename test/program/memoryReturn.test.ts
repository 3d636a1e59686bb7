/** What a crowd leaves behind is given back once, when it has left; what is in use, and who is at work, is left alone. */
import t from 'tap'
import {
  GROWN_BYTES,
  MOST_REST_LOOKS,
  REST_LOOKS,
  returnMemory,
  systemMemory,
  VAIN_RETURNS,
} from '../../src/program/memoryReturn.ts'

const MIB = 1024 ** 2

function isGlibc(): boolean {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return process.platform === 'linux' && header?.glibcVersionRuntime !== undefined
}

/** A process with 100 MiB in use: `look` says how much is resident then, and answers how often something was given back so far. */
function processOf(usedBytes = 100 * MIB) {
  let [resident, trims, used] = [usedBytes, 0, usedBytes]
  let run: () => void = () => {}
  let ended = false
  const stop = returnMemory({
    residentBytes: () => resident,
    trim: () => {
      trims++
      resident = used
    },
    every: (_periodMs, each) => {
      run = each
      return () => {
        ended = true
      }
    },
  })
  const look = (bytes?: number): number => {
    if (bytes !== undefined) resident = bytes
    run()
    return trims
  }
  return { look, use: (bytes: number) => (used = bytes), stop, ended: () => ended }
}

t.test('what a crowd leaves behind is given back when no more comes', async t => {
  const { look, stop, ended } = processOf()
  const crowd = 100 * MIB + GROWN_BYTES
  t.equal(look(), 0)
  t.equal(look(crowd + 100 * MIB), 0, 'it comes')
  t.equal(look(crowd + 200 * MIB), 0, 'still more of it')
  t.equal(look(), 1, 'it has come to rest')
  for (let i = 0; i < 2 * REST_LOOKS; i++) t.equal(look(), 1, 'nothing is there to give back')
  stop()
  t.ok(ended())
})

t.test('little growth, and what is in use, costs nothing', async t => {
  const { look, use } = processOf()
  for (let i = 0; i < 3; i++) t.equal(look(100 * MIB + GROWN_BYTES - 1), 0)
  use(500 * MIB)
  look(500 * MIB)
  t.equal(look(), 1, 'it was tried')
  const looksToNext = (): number => {
    const before = look()
    let looks = 1
    while (look() === before) looks++
    return looks
  }
  const rests = Array.from({ length: VAIN_RETURNS + 10 }, looksToNext)
  t.same(new Set(rests.slice(1, VAIN_RETURNS - 1)), new Set([REST_LOOKS - 1]), 'as often as others')
  t.equal(rests[VAIN_RETURNS], 2 * REST_LOOKS - 1, 'then less and less')
  t.equal(rests.at(-1), MOST_REST_LOOKS - 1)
})

t.test('what was in use, and is given back later than it was tried, is found', async t => {
  const { look, use } = processOf()
  use(300 * MIB)
  look(300 * MIB)
  t.equal(look(), 1, 'the crowd is still there')
  use(100 * MIB)
  for (let i = 1; i < REST_LOOKS; i++) t.equal(look(), 1)
  t.equal(look(), 2)
  for (let i = 0; i < 2 * REST_LOOKS; i++) t.equal(look(), 2, 'nothing is left to give back')
})

t.test('a crowd that comes beside what is in use is given back as soon as any other', async t => {
  const { look, use } = processOf()
  use(500 * MIB)
  for (let i = 0; i < 2000; i++) look(500 * MIB)
  const before = look()
  const crowd = 500 * MIB + GROWN_BYTES
  t.equal(look(crowd), before, 'it comes')
  t.equal(look(), before + 1, 'it has come to rest')
})

t.test('between two returns there is a rest', async t => {
  const { look } = processOf()
  const crowd = 100 * MIB + GROWN_BYTES
  look(crowd)
  t.equal(look(), 1)
  for (let i = 1; i < REST_LOOKS; i++) t.equal(look(crowd), 1)
  t.equal(look(crowd), 2)
})

t.test('on this system', { skip: isGlibc() ? false : 'another libc' }, async t => {
  const memory = systemMemory()
  t.ok(memory, 'glibc can be asked')
  memory!.trim()
  t.ok(memory!.residentBytes() > MIB)
  memory!.every(1, () => {})()
})
