/** Facts about our sources and the libraries that esbuild lacks. */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'esbuild'

/** How a source loads a library when it first needs it, without waiting; a bundle has it inside. */
const LATE = 'createRequire(import.meta.url)('
const CLIENT = '@kubernetes/client-node'

const lateLibraries: Plugin = {
  name: 'late libraries',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      if (!text.includes('createRequire(')) return undefined
      const contents = text.replaceAll(LATE, 'require(')
      if (contents.includes('createRequire('))
        return { errors: [{ text: `a bundle needs it in the form ${LATE}'library')` }] }
      return { contents, loader: 'ts' }
    })
  },
}

/**
 * Only the reader of kubeconfigs is used of the package. Its index names the generated clients and models, too, 15 of 17 MB, and marks none
 * as optional. Reading them took ten times as long as all else.
 */
const kubeConfigs: Plugin = {
  name: 'kubeconfigs of the client',
  setup(build) {
    const folder = dirname(fileURLToPath(import.meta.resolve(CLIENT)))
    build.onResolve({ filter: new RegExp(`^${CLIENT}$`) }, () => ({
      path: join(folder, 'config.js'),
      sideEffects: false,
    }))
    build.onLoad({ filter: /\/client-node\/dist\/gen\/index\.js$/ }, async ({ path }) => {
      const lines = (await readFile(path, 'utf8')).split('\n')
      return { contents: lines.filter(line => !/ from ["']\.\/(?:models|apis|types)\//.test(line)).join('\n') }
    })
  },
}

export const bundlePlugins: Plugin[] = [lateLibraries, kubeConfigs]
