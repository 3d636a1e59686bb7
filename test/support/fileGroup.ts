/**
 * Test files one after the other in this process, each as a subtest that bears its path. Most of a small file's cost is the start of a
 * process and the load of its modules. A file notices nothing: what it imports as `tap` is its subtest. TEST_FILES holds the paths, divided
 * by blanks: tap makes the names of its folders from the command line, which is short. TEST_SILENCE_MS bounds how long a file may assert
 * nothing.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
// Node's own order: where a certificate is looked at before TLS is loaded, no TLS server starts in that process any more
import 'node:tls'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { parseJsonSafely } from '../../src/apimachinery/jsonParse.ts'
import { endWhenSilent } from './endWhenSilent.ts'
import { FILE_LIMIT_MS } from './patience.ts'

// as in the server's process: what one file has parsed must not change what another one reads
parseJsonSafely()

// commands that run here make it stricter
const umask = process.umask(0o022)

const files = (process.env.TEST_FILES ?? '').split(' ')
const silenceMs = Number(process.env.TEST_SILENCE_MS ?? FILE_LIMIT_MS)
delete process.env.TEST_FILES
delete process.env.TEST_SILENCE_MS
const tests = new Map<string, Test>()
Object.assign(globalThis, { [Symbol.for('orrery.subtests')]: tests })

const errors = new URL('./lateErrors.ts', import.meta.url).href
registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context
    if (specifier === 'async-hook-domain') return { url: errors, format: 'module-typescript', shortCircuit: true }
    if (specifier !== 'tap' || parentURL === undefined || !tests.has(parentURL)) return next(specifier, context)
    const source = `export default globalThis[Symbol.for('orrery.subtests')].get(${JSON.stringify(parentURL)})`
    return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true }
  },
})

const { default: tap } = await import('tap')
// each file has its own limit; the plan comes first, so that files which a crash keeps from running are missed
tap.setTimeout(0)
tap.plan(files.length)
let hung = false
// the handles of a test that hung would keep the process alive
tap.once('end', () => {
  if (hung) setImmediate(() => process.exit())
})
for (const file of files) {
  tap.test(file, async t => {
    process.umask(umask)
    const before = processorSeconds()
    t.teardown(() => {
      if (before !== undefined) console.error(`# processor ${(processorSeconds()! - before).toFixed(1)} s ${file}`)
    })
    const url = pathToFileURL(resolve(file)).href
    tests.set(url, t)
    endWhenSilent(t, silenceMs, () => {
      hung = true
    })
    await import(url)
  })
}

/** Seconds that this process and its ended children have used so far, by proc(5); undefined on another system than Linux. */
function processorSeconds(): number | undefined {
  if (process.platform !== 'linux') return undefined
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  // utime, stime, cutime, cstime, in ticks of 1/100 s
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}
