/** Loaded before a test file: SEED decides the cases of its fast-check properties, so that the same seed plays them again. */
import fc from 'fast-check'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.SEED) })
