// Refuses an old Node.js before any other code is loaded. Plain JavaScript that Node.js 12 can still read.

/** The first version that runs TypeScript files as they are and has `node:sqlite`, both without a flag. */
const NEEDED = [22, 18]
/** "Unavailable", as in cli/exit-codes.ts, which an old Node.js can't read. */
const UNAVAILABLE = 69

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  process.stderr.write(
    `muster: node_too_old: Muster needs Node.js ${NEEDED.join('.')} or newer; this is Node.js ${process.versions.node}. ` +
      'Run Muster through npm (npm start, npm run muster), or install Node.js 24.\n',
  )
  process.exit(UNAVAILABLE)
}
