/* flow_lld.cc: the linker that `flowc build` starts: LLVM's lld for ELF, by itself, in one static program.
 *
 * In: the words of a command of ld.lld; what it reads and writes they say. Out: the same bytes as those of
 * the system's ld.lld of this version. Always holds: code of LLVM (bitcode) is refused as an input, as there
 * is no code generator within. What lld would call for it stands here, empty and under LLVM's names, so that
 * the archives' own is not linked; LLVM's headers for it take seconds to compile. C++ because lld is. */
#include <lld/Common/Driver.h>
#include <lld/Common/ErrorHandler.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <memory>
#include <vector>

/* ---- in place of LLVM's ---- */

extern "C" {
#define LLVM_TARGET(name)                                                                                    \
  void LLVMInitialize##name##Target() {}                                                                     \
  void LLVMInitialize##name##TargetInfo() {}                                                                 \
  void LLVMInitialize##name##TargetMC() {}
#include <llvm/Config/Targets.def>
#define LLVM_ASM_PRINTER(name)                                                                               \
  void LLVMInitialize##name##AsmPrinter() {}
#include <llvm/Config/AsmPrinters.def>
#define LLVM_ASM_PARSER(name)                                                                                \
  void LLVMInitialize##name##AsmParser() {}
#include <llvm/Config/AsmParsers.def>
}

namespace llvm {
class Triple;

namespace codegen {
struct RegisterCodeGenFlags { /* adds options of the code generator to the command line */
  RegisterCodeGenFlags();
};
RegisterCodeGenFlags::RegisterCodeGenFlags() {}
} // namespace codegen

namespace lto {
struct InputFile {
  static Expected<std::unique_ptr<InputFile>> create(MemoryBufferRef);
  ~InputFile();
};
Expected<std::unique_ptr<InputFile>> InputFile::create(MemoryBufferRef) {
  return createStringError(inconvertibleErrorCode(), "code of LLVM is not linked here");
}
InputFile::~InputFile() {}

struct LTO {
  static SmallVector<const char *> getRuntimeLibcallSymbols(const Triple &);
};
SmallVector<const char *> LTO::getRuntimeLibcallSymbols(const Triple &) { return {}; }
} // namespace lto
} // namespace llvm

namespace lld::elf {
struct BitcodeFile;
struct InputFile;

struct BitcodeCompiler {
  BitcodeCompiler();
  ~BitcodeCompiler();
  void add(BitcodeFile &);
  std::vector<InputFile *> compile();
};
BitcodeCompiler::BitcodeCompiler() {}
BitcodeCompiler::~BitcodeCompiler() {}
void BitcodeCompiler::add(BitcodeFile &) {}
std::vector<InputFile *> BitcodeCompiler::compile() { return {}; }
} // namespace lld::elf

/* ---- the program ---- */

LLD_HAS_DRIVER(elf)

int main(int n, char **words) {
  bool ok = lld::elf::link({words, words + n}, llvm::outs(), llvm::errs(), true, false);
  lld::exitLld(!ok);
}
