import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import javassist.CannotCompileException;
import javassist.ClassPool;
import javassist.CtBehavior;
import javassist.CtClass;
import javassist.CtMethod;
import javassist.NotFoundException;
import javassist.expr.ExprEditor;
import javassist.expr.FieldAccess;
import javassist.expr.MethodCall;

/**
 * Patch OUT CLASS METHOD AT: writes a jar with the class as it is with the patch.
 *
 * <p>Standard input has the statement in Javassist's words. AT is what it replaces in the methods of that name:
 * each call or access of a Class.member or member, or their whole bodies if AT is empty.
 */
public final class Patch {
    private static int places;

    public static void main(String[] arguments) throws Exception {
        String statement = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
        String method = arguments[2];
        String at = arguments[3];
        ExprEditor editor = new ExprEditor() {
            private boolean isAt(String type, String member) {
                return (type + "." + member).endsWith("." + at);
            }

            @Override
            public void edit(MethodCall call) throws CannotCompileException {
                if (isAt(call.getClassName(), call.getMethodName())) {
                    call.replace(statement);
                    places++;
                }
            }

            @Override
            public void edit(FieldAccess access) throws CannotCompileException {
                if (access.isReader() && isAt(access.getClassName(), access.getFieldName())) {
                    access.replace(statement);
                    places++;
                }
            }
        };
        try {
            ClassPool classes = ClassPool.getDefault();
            classes.importPackage("org.apache.kafka.raft");
            CtClass type = classes.get(arguments[1]);
            for (CtBehavior one : type.getDeclaredBehaviors()) {
                if (!one.getName().equals(method)) {
                    continue;
                } else if (at.isEmpty()) {
                    ((CtMethod) one).setBody(statement);
                    places++;
                } else {
                    one.instrument(editor);
                }
            }
            if (places == 0) {
                throw new NotFoundException("there is no such place");
            }
            write(Path.of(arguments[0]), type);
        } catch (NotFoundException | CannotCompileException error) {
            System.err.println(error.getMessage());
            System.exit(1);
        }
    }

    private static void write(Path file, CtClass type) throws IOException, CannotCompileException {
        try (OutputStream out = Files.newOutputStream(file); ZipOutputStream jar = new ZipOutputStream(out)) {
            ZipEntry entry = new ZipEntry(type.getName().replace('.', '/') + ".class");
            // The same patch makes the same bytes.
            entry.setTime(0);
            jar.putNextEntry(entry);
            jar.write(type.toBytecode());
        }
    }
}
