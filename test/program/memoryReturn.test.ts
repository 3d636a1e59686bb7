/** What a crowd leaves behind is given back once, when it has left; what is in use, and who is at work, is left alone. */
import t from 'tap'
import { CALM_BYTES, GROWN_BYTES, REST_LOOKS, returnMemory, systemMemory } from '../../src/program/memoryReturn.ts'

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
  for (let i = 0; i < 2 * REST_LOOKS; i++) t.equal(look(), 1, 'and counts as there')
  t.equal(look(500 * MIB + CALM_BYTES), 1)
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
