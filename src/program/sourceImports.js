/**
 * Sources name each other by whole relative paths: there is nothing to look for, and what they are is known by their ending.
 * Node would ask the disk several times about each of a thousand of them. For clones alone, as `--require`, which takes any path
 * and gives it to threads too. Plain JavaScript, as all that is loaded before the compile cache.
 */
import { registerHooks } from 'node:module'

const DOT = 46

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context
    if (specifier.charCodeAt(0) !== DOT || !specifier.endsWith('.ts') || parentURL === undefined)
      return next(specifier, context)
    return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true }
  },
})
