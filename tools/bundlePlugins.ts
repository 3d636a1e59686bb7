/** What esbuild cannot know of our sources and of the libraries. */
import { readFile } from 'node:fs/promises'
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
 * Says what the package does not: its modules do nothing when they are loaded, so those that nobody uses can stay out. That
 * is all but the reader of kubeconfigs: 15 of 17 MB.
 */
const usedModules: Plugin = {
  name: 'used modules of the client',
  setup(build) {
    build.onResolve({ filter: /./ }, async ({ path, pluginData, ...where }) => {
      const isInside = path === CLIENT || (path.startsWith('.') && where.resolveDir.includes(`/${CLIENT}/`))
      if (pluginData === usedModules || !isInside) return undefined
      return { ...(await build.resolve(path, { ...where, pluginData: usedModules })), sideEffects: false }
    })
  },
}

export const bundlePlugins: Plugin[] = [lateLibraries, usedModules]
