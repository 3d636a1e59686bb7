/**
 * Each kind of work has one road; the files that go another way are listed here, and the list only becomes shorter. A new file fails by its
 * name, with the way that it should take; one that no longer does the work must leave the list.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')

interface Road {
  /** Opens the path of each file that is looked at. */
  under: RegExp
  /** A file does the work whose text matches all. */
  marks: readonly RegExp[]
  /** The way for a new file. */
  use: string
  files: readonly string[]
}

const ROADS: Readonly<Record<string, Road>> = {
  'writes to the connection of a client': {
    under: /^src\/apiserver\//,
    marks: [
      /\b(?:socket|connection|other|peer|answer|reply|response|this)\.(?:write|end)\(|\.(?:writeHead|writeContinue|flushHeaders)\(/,
    ],
    use: 'Answer of src/apiserver/http/answer.ts; answerBare where there is no request',
    files: [
      'src/apiserver/http/answer.ts',
      'src/apiserver/http/bareAnswer.ts',
      'src/apiserver/http/malformedHeads.ts',
      'src/apiserver/http/requestBody.ts',
      'src/apiserver/http/road.ts',
      'src/apiserver/http/httpServer.ts',
      'src/apiserver/threads/forwarder.ts',
    ],
  },
  "calls the store's write": {
    under: /^src\/(?!storage\/)/,
    marks: [/\bstore\s*\.(?:write|writeMany|update)\(/],
    use: 'the registry of src/apiserver/registry, in the server by its embedded client',
    files: [
      'src/apiserver/admission/resourceQuota.ts',
      'src/apiserver/endpoints/podSubresources.ts',
      'src/apiserver/kubernetesService/kubernetesService.ts',
      'src/apiserver/operations/remove.ts',
      'src/apiserver/registry/copies/copyWrites.ts',
      'src/apiserver/registry/creations.ts',
      'src/apiserver/registry/storeEpochs.ts',
      'src/apiserver/registry/updates.ts',
      'src/apiserver/health/healthChecks.ts',
      'src/apiserver/spaces/spaceContent.ts',
      'src/cli/orrery/backup/restore.ts',
      'src/cli/orrery/store/storedObject.ts',
    ],
  },
  'writes EdgePlacement.status': {
    under: /^src\//,
    marks: [/\.(?:update|patch)\(\s*EDGE_PLACEMENTS\b/, /subresource: 'status'/],
    use: 'src/controllers/writeStatus.ts',
    files: [],
  },
  'creates Events': {
    under: /^src\/(?!apiserver\/audit\/)/,
    marks: [/\.create\(\s*EVENTS\b|kind: 'Event'/],
    use: 'src/controllers/eventRecorder.ts',
    files: ['src/controllers/eventRecorder.ts'],
  },
}

const paths = globSync('src/**/*.ts', { cwd: ROOT })
const sources = paths.map(path => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

for (const [work, { under, marks, use, files }] of Object.entries(ROADS)) {
  t.test(`${files.length} files: ${work}`, async t => {
    const found = sources
      .filter(({ path, text }) => under.test(path) && marks.every(mark => mark.test(text)))
      .map(({ path }) => path)
    for (const path of found) t.ok(files.includes(path), `${path} ${work}; use ${use}`)
    for (const path of files) t.ok(found.includes(path), `${path} no longer ${work}: take it out of the list`)
  })
}
