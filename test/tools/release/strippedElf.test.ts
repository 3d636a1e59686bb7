/** Parts of Node that are left out before it is filled, and refusals. */
import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { strippedElf } from '../../../tools/release/strippedElf.ts'

t.test('a program without what only debuggers read runs as before', async t => {
  const whole = readFileSync(process.execPath)
  const stripped = strippedElf(whole)
  t.ok(stripped.length < 0.85 * whole.length, `${stripped.length} of ${whole.length} bytes`)
  const path = join(t.testdir(), 'node')
  writeFileSync(path, stripped, { mode: 0o755 })
  t.equal(execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(), process.version)
  t.ok(strippedElf(stripped).equals(stripped), 'there is nothing more to leave out')
})

t.test('what is no such program is refused', async t => {
  t.throws(() => strippedElf(Buffer.from('#!/bin/sh\n'.repeat(20))), /no 64-bit little-endian ELF/)
  const odd = Buffer.from(readFileSync(realpathSync('/bin/sh')))
  odd.writeUInt16LE(0, 60)
  t.throws(() => strippedElf(odd), /no sections of the usual form/)
})
