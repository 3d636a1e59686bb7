/** A release, made once as docs/install.md says: the page, the one file, the npm package, and KubeStellar's example on both. */
import t from 'tap'
import { FILE_LIMIT_MS } from '../../support/patience.ts'
import { temporaryDir } from '../../support/server.ts'
import { playReleased } from './example.ts'
import { typeInstallPage } from './installPage.ts'
import type { Release } from './made.ts'
import { testNpmPackage } from './npmPackage.ts'
import { testOneFile } from './oneFile.ts'

// It bundles, and writes more than 100 MB.
t.setTimeout(FILE_LIMIT_MS)
const options = { timeout: FILE_LIMIT_MS }
const dir = temporaryDir(t)
const made: Release[] = []
t.test('what docs/install.md says to type installs Orrery', options, async t => {
  made.push(await typeInstallPage(t, dir))
})
t.test('the one file', options, t => testOneFile(t, made[0]!))
t.test('the npm package', options, t => testNpmPackage(t, made[0]!))
t.test('the example on both', options, t => playReleased(t, made[0]!))
